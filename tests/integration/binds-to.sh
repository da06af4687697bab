#!/bin/bash
# binds-to: a service stops when the other one ends, with whatever status, and comes back with it; instances of a
# required template stand in for each other; a shutdown in the middle.
. "${0%/*}/lib.sh"

{
	service db 'restart-delay = 300ms'
	service web 'binds-to = db'
	service log 'requires = db'
	printf '[guest]\ncommand = %s 0 %s\nbinds-to = host\nstop-timeout = 60s\n' "$helpers/signal-log $dir/guest" "$dir/go"
	service host 'restart-delay = 0'
	printf '[a@]\ninstances = 3\ncommand = sh -c '\''test %%i != 2 || exit 1; exec %s/idle'\''\n' "$helpers"
	printf 'ready = exec:test -d /\nrestart = never\n'
	service front 'requires = a@'
} | config
mkfifo "$dir/go"
start_daemon
for name in web log guest host front; do
	ok "$name is up" wait_for 10 has_state "$name" up
done
wait_for 10 says "$dir/guest" ready || die "guest hears its signal"
is "front has started without the instance that failed" "$(state a@2)" failed

web=$(pid_of web) log_pid=$(pid_of log)
kill -KILL "$(pid_of db)"
ok "web stops when db is killed, and comes back" wait_for 10 is_up_anew web "$web"
is "log, which only requires db, goes on" "$(pid_of log)" "$log_pid"
ok "in this order" in_order "db: killed by SIGKILL" "web: shutting down: bound to db, which has ended"
web=$(pid_of web)
kill -TERM "$(pid_of db)"
ok "db ends well, and is done" wait_for 10 has_state db "done"
ok "web stops, too" wait_for 10 has_state web down
ok "and stays down: it is complete" ctl wait --for complete --timeout 60s web
ok "a start of web starts db" ctl start web
is "both are up" "$(state db) $(state web)" "up up"

has_plan() { ctl plan --json db | jq -r '[.entries[].node] | sort | join(" ")'; }
is "a stop of db would stop both" "$(has_plan)" "db log web"
like "deps shows the key" "$(ctl deps web)" 'binds-to'

kill -TERM "$(pid_of db)"
ok "web stops once more" wait_for 10 has_state web down
sed -i '/^binds-to = db$/d' "$ini"
like "a reload shows that it will start" "$(ctl reload --dry-run)" 'web.*start'
ok "a service that is bound to nothing any more" ctl reload
ok "starts" wait_for 10 has_state web up

kill -KILL "$(pid_of host)"
ok "guest is asked to end" wait_for 10 has_state guest stopping
ok "host waits for that" wait_for 10 has_state host backoff
is "and shows it" "$(field host '.service.waiting[0]')" guest
kill -TERM "$daemon"
echo >"$dir/go"
await_daemon 20
is "a shutdown in the middle ends well" "$status" 0
finish
