#!/bin/bash
# What kill-leftovers = no lets be has the budget of the stop that waits for it: also beside the next
# run, and whatever the kill-signal does to it.
. "${0%/*}/lib.sh"

# A service with a session of its own that nothing but SIGKILL ends.
session() { # NODE [LINE...]
	local node=$1
	shift
	printf '[%s]\ncommand = bash -c '\''setsid %s/stubborn %s/%s & exec %s/idle'\''\n' \
		"$node" "$helpers" "$dir" "${node##*/}" "$helpers"
	printf '%s\n' 'kill-leftovers = no' "$@"
}
{
	session beside 'shutdown-timeout = 500ms'
	session soft 'shutdown-timeout = 500ms' 'kill-signal = SIGHUP'
	printf '[let]\ncommand = bash -c '\''trap "" TERM; setsid %s/stubborn %s/let & while :; do sleep 1; done'\''\n' \
		"$helpers" "$dir"
	printf '%s\n' 'kill-leftovers = no' 'stop-timeout = 100ms' 'shutdown-timeout = 1h'
} | config
start_daemon
for name in beside soft let; do
	wait_for 10 test -s "$dir/$name" || die "the session of $name is there"
done

pid=$(cat "$dir/beside")
ctl stop --no-wait beside >"$dir/out"
ok "the service ends" wait_for 5 has_state beside down
ok "it may be started while its session lives" ctl start beside --timeout 5s
ok "which is ended when the budget of the stop is spent" wait_for 10 gone "$pid"
like "and named" "$(cat "$log")" "beside: killing leftover pid $pid .stubborn., .* after the stop"
ok "the next run goes on" has_state beside up

pid=$(cat "$dir/soft")
ctl stop soft --timeout 20s >"$dir/out" 2>&1
ok "what takes no notice of the kill-signal is killed after it" gone "$pid"

ctl stop --no-wait let >"$dir/out"
ok "a stop kills the main process at the stop-timeout" wait_for 5 has_state let down
ok "its session is let be" kill -0 "$(cat "$dir/let")"
ok "and not said to be killed" not says "$log" 'let: killing leftover'
like "for it there is more time" "$(ctl guards let --blocking)" 'leftover .* (1h|[0-9]+min).* stubborn'
kill -KILL "$(cat "$dir/let")"
stop_daemon
ok "nobody is left" wait_for 10 nobody_else
finish
