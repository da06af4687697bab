#!/bin/bash
# A stopping service has its requirements until its end, even if others are started or stopped meanwhile.
. "${0%/*}/lib.sh"

# Works on after its signal until it gets a line.
cat >"$dir/web" <<END
trap 'read -r <"$dir/go"; echo web >>"$dir/ends"; exit 0' TERM
echo >"$dir/web-set"
while :; do read -rt 0.05 <>"$dir/never"; done
END
cat >"$dir/db" <<END
trap 'echo db >>"$dir/ends"; exit 0' TERM
echo >"$dir/db-set"
while :; do read -rt 0.05 <>"$dir/never"; done
END
mkfifo "$dir/never" "$dir/go"
config <<END
[db]
command = bash $dir/db
[web]
command = bash $dir/web
requires = db
[other]
command = $helpers/idle
END
start_daemon

# Both, with their traps set.
await_both() {
	for name in db web; do
		wait_for 10 test -e "$dir/$name-set" || die "$name is there"
	done
	ctl wait --for ready >"$dir/out" || die "all is ready"
	rm "$dir/db-set" "$dir/web-set"
	web=$(pid_of web)
}
ends() { paste -sd ' ' "$dir/ends"; }

await_both
ctl stop --no-wait db >"$dir/out"
ok "web stops with db, which it requires" wait_for 5 says "$log" "web: SIGTERM to pid $web"
is "and db waits for it" "$(state db)" waiting
ctl start --no-wait web >"$dir/out"
is "a start of another service does not change it" "$(state db)" waiting
echo >"$dir/go"
await_both
is "when web was gone, db went, and both are there anew" "$(ends)" "web db"

ctl restart --no-wait db >"$dir/out"
ok "another stop during a restart" ctl stop other
echo >"$dir/go"
ctl start other >"$dir/out"
await_both
is "is no end of that" "$(ends)" "web db web db"

ctl restart --no-wait db >"$dir/out"
ctl stop --no-wait db >"$dir/out"
echo >"$dir/go"
ok "a stop after a restart is the last word" ctl wait --for complete db web
is "also for web" "$(state web) $(field web .state)" "down complete"
is "and all were in order" "$(ends)" "web db web db web db"

stop_daemon
is "the end is graceful" "$status" 0
ok "and complete" wait_for 10 nobody_else
finish
