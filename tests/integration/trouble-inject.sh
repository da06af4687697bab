#!/bin/bash
# The kernel has no memory or no process to give for a moment: at a start, and at each command of a
# stop.
. "${0%/*}/lib.sh"
requires_package strace strace

config <<END
[main]
command = $helpers/idle
restart = never
autostart = no
[start]
command = $helpers/idle
start-command = true
restart = never
autostart = no
[ready]
command = $helpers/idle
post-start = true
restart = never
autostart = no
[once]
command = true
type = oneshot
restart = never
autostart = no
[stop]
command = $helpers/idle
stop-command = sh -c 'kill -TERM \$MAINPID'
autostart = no
[post-stop]
command = $helpers/idle
post-stop = true
autostart = no
[final]
command = $helpers/idle
final = true
autostart = no
END
start_daemon

traced() { ! says "/proc/$daemon/status" '^TracerPid:[[:space:]]0$'; }

# From now on the daemon can make no process.
tracer=
inject() { # ERROR
	strace -qq -o /dev/null -p "$daemon" -e trace=clone,clone3 -e "inject=clone,clone3:error=$1" \
		2>"$dir/strace" &
	tracer=$!
	cleanup_fn end_process "$tracer"
	wait_for 10 traced || skip_all "machine: refuses ptrace ($(tail -n 1 "$dir/strace"))"
}
relent() {
	kill -TERM "$tracer"
	wait "$tracer" 2>/dev/null
	wait_for 10 not traced
}

trial() { # ERROR TEXT: each kind of start and stop
	local name=$1 why="make a process: $2" node

	inject "$1"
	for node in main start ready once; do
		ctl start "$node" --no-wait >/dev/null
		ok "$name: $node is tried again" wait_for 20 \
			says "$log" "$said$node: (start-command )?cannot start: $why; again in"
	done
	ok "$name: a stop of a service that waits for its next attempt is done" ctl stop main --timeout 60s
	relent
	for node in start ready; do
		ok "$name: $node is up as soon as it can" wait_for 20 has_state "$node" up
	done
	ok "$name: and a oneshot has done its work" wait_for 20 has_state once 'done'

	for node in stop post-stop final; do
		ctl start "$node" >/dev/null || die "$name: $node is up"
	done
	inject "$1"
	for node in stop post-stop final; do
		ok "$name: $node can be stopped" ctl stop "$node" --timeout 60s
		is "$name: $node is not forced" "$(field "$node" .forced)" false
		ok "$name: $node has its trouble named" \
			says "$log" "$said$node: $node(-command)? cannot start: $why"
	done
	relent
	ctl stop start ready once >/dev/null
	: >"$log"
}

trial EAGAIN 'Resource temporarily unavailable'
trial ENOMEM 'Cannot allocate memory'

# To the end of the daemon.
inject ENOMEM
ctl start main start --no-wait >/dev/null
ok "a start is tried" wait_for 20 says "$log" 'main: cannot start'
kill -TERM "$daemon"
wait_for 20 is_zombie_or_gone "$daemon"
await_daemon 10
is "an end is possible all the time" "$status" 0
ok "nothing is left" wait_for 10 gone "$tracer"
finish
