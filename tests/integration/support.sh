#!/bin/bash
# support-dump: a file for the report of a problem, without secrets, and never over another file.
. "${0%/*}/lib.sh"

parts='--version health status guards plan show history blame logs'
cat >"$dir/secrets" <<-'END'
connects to postgres://app:hunter2@db/app
Password: 'hunter5 hunter5' {"api_key": "hunter6"}
--password hunter7 SECRET="hunter8 hunter8" 'DB_PASS=hunter9 hunter9'
END
config <<-END
[swansong]
history = $dir/history
report = $dir/report
[web]
command = sh -c 'cat $dir/secrets; exec $helpers/idle' --token=hunter3
environment = DATABASE=hunter4
[db]
command = $helpers/idle
END
start_daemon
ctl wait --for ready >/dev/null
ok "the first line is there" wait_for 10 sh -c "'$top_builddir/swansongctl' --socket '$socket' logs web | grep -q hunter9"
ok "a file is made" ctl support-dump "$dir/dump"
for part in $parts; do
	ok "it has the part $part" grep -q "^=== swansongctl $part" "$dir/dump"
done
is "no part has failed but those that have no file yet" \
	"$(sed -n 's/^=== [a-z]*ctl \([^ ]*\).*/\1/; t part; /^(exit status/{g;p}; b; :part h' "$dir/dump" | grep -v -e history -e blame -e no-pager)" ""
ok "it has the settings of both services" grep -q '^\[db\]' "$dir/dump"
ok "and a line of one" grep -q 'connects to postgres' "$dir/dump"
ok "and the machine" grep -q "^$(uname -srm)$" "$dir/dump"
is "no value of a variable, no password in an address and no token" "$(grep -n 'hunter' "$dir/dump")" ""
is "only its owner can read it" "$(stat -c %a "$dir/dump")" 600
ok "a file that exists is refused" not ctl support-dump "$dir/dump"
ln -s "$dir/elsewhere" "$dir/link"
ok "and a link" not ctl support-dump "$dir/link"
ok "which is not followed" not test -e "$dir/elsewhere"
cp "$dir/dump" "$dir/before"
is "without its script there is a reason" \
	"$(SWANSONG_SUPPORT_DUMP=$dir/none ctl support-dump "$dir/new" 2>&1)" \
	"swansongctl: cannot run $dir/none: No such file or directory"

# With a shutdown in the middle, and after it.
"$swansongctl" guard db -- sleep 600 >/dev/null 2>&1 &
guard=$!
ok "a guard is held" wait_for 10 sh -c "'$top_builddir/swansongctl' --socket '$socket' guards db | grep -q swansongctl"
ctl shutdown --no-wait >/dev/null
ok "during a shutdown a file is made, too" ctl support-dump "$dir/late"
like "with the guard that holds it up" "$(sed -n '/^=== swansongctl guards/,/^===/p' "$dir/late")" 'db .*(sleep|swansongctl)'
kill "$guard"
await_daemon 10
ok "without a daemon a file is made" ctl support-dump "$dir/without"
start_daemon
ok "after the next start" ctl support-dump "$dir/again"
like "it has the last shutdown" "$(sed -n '/^=== swansongctl blame/,/^===/p' "$dir/again")" 'db .*swansongctl'
ok "in which the reason is" grep -q 'the daemon is not running' "$dir/without"
finish
