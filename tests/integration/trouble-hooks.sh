#!/bin/bash
# A command hangs and ignores signals: each kind is ended at its time limit, and named.
. "${0%/*}/lib.sh"

deaf="$helpers/stubborn"
sed 's/^command = .*/&\nautostart = no/' <<END | config
[start]
command = $helpers/idle
start-command = $deaf $dir/start
start-timeout = 500ms
stop-timeout = 500ms
restart = never
[ready]
command = $helpers/idle
post-start = $deaf $dir/ready
start-timeout = 500ms
stop-timeout = 500ms
restart = never
[slow-start]
command = $helpers/idle
start-command = $deaf $dir/slow-start
stop-timeout = 500ms
[slow-ready]
command = $helpers/idle
post-start = $deaf $dir/slow-ready
stop-timeout = 500ms
[stop]
command = $helpers/idle
stop-command = $deaf $dir/stop
stop-timeout = 500ms
[post-stop]
command = $helpers/idle
post-stop = $deaf $dir/post-stop
stop-timeout = 500ms
[final]
command = $helpers/idle
final = $deaf $dir/final
final-timeout = 500ms
[crash]
command = $deaf $dir/crash-main
post-stop = $deaf $dir/crash
stop-timeout = 500ms
restart-delay = 0
END
start() { ctl start "$1" --no-wait >/dev/null; } # NODE
runs() { [ -s "$dir/$1" ] && ! gone "$(cat "$dir/$1")"; } # NAME
began() { [ -s "$dir/$1" ]; } # NAME: and it may be over, as half a second may be nothing here
over() { gone "$(cat "$dir/$1")"; } # NAME
start_daemon

# Without a stop: the start fails.
declare -A key=([start]=start-command [ready]=post-start)
for node in start ready; do
	start "$node"
	ok "$node: it hangs" wait_for 10 began "$node"
	ok "$node: the start fails at its start-timeout" wait_for 10 has_state "$node" failed
	is "$node: which is named" "$(field "$node" .service.result)" \
		"${key[$node]} was not done within its start-timeout"
	ok "$node: it is gone" over "$node"
	is "$node: nothing is forced, as nothing was stopped" "$(field "$node" .forced)" false
done

# It crashes, and its post-stop hangs: it is started again all the same.
start crash
wait_for 10 runs crash-main || die "crash is there"
kill -KILL "$(pid_of crash)"
ok "crash: post-stop hangs" wait_for 10 began crash
ok "crash: it is started again after that" wait_for 10 has_state crash up
ok "crash: the post-stop is gone" over crash
# The next part is not about the main process.
rm -f "$dir/crash-main" "$dir/crash"
ok "crash: it is stopped by force" ctl shutdown crash --force --timeout 60s

# A stop: by force, which is named with the command, and is the exit status.
declare -A key=([slow-start]=start-command [slow-ready]=post-start [stop]=stop-command
	[post-stop]=post-stop [final]=final)
into() { # NODE: it hangs there when it is stopped
	rm -f "$dir/$1"
	start "$1"
	if [[ $1 = slow-* ]]; then
		wait_for 10 runs "$1"
	else
		wait_for 10 has_state "$1" up
	fi
}
for node in "${!key[@]}"; do
	ok "$node: it is there" into "$node"
	ok "$node: a stop is done" by_force ctl stop "$node" --timeout 60s
	is "$node: by force" "$(field "$node" .forced)" true
	ok "$node: the log names it" says "$log" "$node: killing ${key[$node]}, pid [0-9]+ \(stubborn\)"
	ok "$node: it is gone" over "$node"
done
stop_daemon
is "an earlier forced stop does not count for this end" "$status" 0

for node in "${!key[@]}"; do
	: >"$log"
	start_daemon
	ok "$node: it is there" into "$node"
	stop_daemon 20
	is "$node: the daemon ends by force" "$status" 124
	ok "$node: the log names it" says "$log" "$node: killing ${key[$node]}, pid [0-9]+ \(stubborn\)"
	ok "$node: nothing is left" wait_for 10 nobody_else
done
finish
