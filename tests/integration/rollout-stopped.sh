#!/bin/bash
# A rollout ends with its first service that does not come back because it was stopped, or a node that it
# requires: it does not wait for a start that was not requested.
. "${0%/*}/lib.sh"

{
	service db
	service near/one 'autostart = no'
	service near/two
	printf '[web@]\ninstances = 2\ncommand = %s/idle\nrequires = db near\n' "$helpers"
} | config
start_daemon
ok "the tree is ready" ctl wait --for ready --timeout 60s

# A rollout that waits for the end of web@1, on which a guard is held.
begin_rollout() {
	: >"$log"
	"$swansongctl" guard web@1 -- sleep 1000 &
	holder=$!
	cleanup_fn end_process "$holder"
	wait_for 10 has_leases web@1 1 || die "web@1 has a guard"
	"$swansongctl" rollout web@ --settle 50ms --timeout 20s >"$dir/out" 2>&1 &
	rolling=$!
	wait_for 10 says "$log" 'web@1: shutting down' || die "the rollout has begun"
}
rollout_fails() { # NAME OUTPUT
	end_process "$holder"
	wait "$rolling"
	is "$1 ends the rollout" "$?" 1
	like "the output names it" "$(cat "$dir/out")" "$2"
	like "and how to go on" "$(cat "$dir/out")" '0 of 2 are done; to go on: swansongctl rollout --continue'
	ok "all is started again" ctl start / --timeout 60s
}

other=$(pid_of web@2)
begin_rollout
ctl stop web@1 --no-wait >/dev/null
rollout_fails "a stop of the service" 'web@1'
is "the next one was not touched" "$(pid_of web@2)" "$other"
begin_rollout
ctl stop db --no-wait >/dev/null
rollout_fails "a stop of a requirement" 'web@1'
begin_rollout
ctl stop near --no-wait >/dev/null
rollout_fails "a stop of a required group" 'web@1'

stop_daemon
is "all ends well" "$status" 0
finish
