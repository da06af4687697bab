#!/bin/bash
# Without a free descriptor the logger keeps its files and logs the shortage; and nodes that a reload renames
# or removes leave no line behind.
. "${0%/*}/lib.sh"
requires_package python3 python3

mkfifo "$dir/lines"
cat >"$dir/limited" <<END
#!/bin/bash
ulimit -n 24
exec "$SWANSONG_LOGGER" "\$@"
END
chmod +x "$dir/limited"
{
	for n in {1..30}; do
		printf '[many/%d]\ncommand = sh -c "echo line %d; exec %s/idle"\nlog = file:%s/file-%d\n' \
			"$n" "$n" "$(realpath "$helpers")" "$dir" "$n"
	done
} | config
SWANSONG_LOGGER=$dir/limited start_daemon
for n in {1..30}; do
	wait_for 10 has_state "many/$n" up || die "many/$n is up"
done
ok "the first files are written" wait_for 10 says "$dir/file-1" '^line 1$'
ok "the log gives the reason for the others" wait_for 10 says "$log" 'logger: message refused: stream [0-9]+: Too many open files'
ok "the daemon answers" ctl status
stop_daemon 20
is "the end is graceful" "$status" 0
ok "and the missing output" says "$log" 'many/30: log: the last bytes are not in'

config <<END
[stays]
command = $helpers/idle
[renamed]
command = bash -c 'trap "seq 1 5000; exit" TERM; echo begun; while :; do read -r -t 60 _ <>$dir/lines; done'
log = file:$dir/renamed
[removed]
command = bash -c 'trap "seq 1 5000; exit" TERM; echo begun; while :; do read -r -t 60 _ <>$dir/lines; done'
log = file:$dir/removed
END
start_daemon
wait_for 10 says "$dir/removed" begun || die "removed has begun"
wait_for 10 says "$dir/renamed" begun || die "renamed has begun"
sed -i '/^\[removed\]/,$d; s/^\[renamed\]/[other]/' "$ini"
ctl reload >/dev/null || die "the reload is done"
expected=$({ echo begun; seq 1 5000; } | cksum)
is_whole() { [ "$(cksum <"$dir/$1")" = "$expected" ]; } # FILE
ok "all lines of a removed node are in its file" wait_for 10 is_whole removed
ok "the lines of a renamed node go on in its file" wait_for 10 says "$dir/renamed" '^begun$'
wait_for 10 has_state other up || die "the renamed node is up"
is "which has both runs, whole" "$(grep -c begun "$dir/renamed") $(grep -Ecv begun "$dir/renamed")" "2 5000"
stop_daemon
is "the end is graceful after a reload" "$status" 0
ok "no process is left" wait_for 10 nobody_else
finish
