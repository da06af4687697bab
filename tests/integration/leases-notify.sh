#!/bin/bash
# X_SWANSONG_GUARD: a guard by a message and a descriptor, for any client of sd_notify.
. "${0%/*}/lib.sh"
requires_package python3 python3
. "$top_srcdir/tests/integration/holder-lib.sh"

config <<END
[job]
command = $holder_command $dir/client
notify = yes
stdout = file:$dir/client.out
kill-leftovers = no
[deaf]
command = $holder_command $dir/deaf
notify = yes
stdout = file:$dir/deaf.out
stop-timeout = 60s
[deaf/part]
END
mkfifo "$dir/client" "$dir/deaf"
start_daemon
ctl wait --for ready
ok "it is there" wait_for 10 says "$dir/client.out" begins
ok "so is the other" wait_for 10 says "$dir/deaf.out" begins

refused() { grep -c 'X_SWANSONG_GUARD is refused' "$log"; }
before=$(descriptors)

# --- Held until the other end is closed ----------------------------------------------------------

tell client guard nightly_backup pipe
is "a pipe holds a guard" "$(leases job)" 1
like "guards names the holder" "$(ctl guards job)" "lease .*pid $(pid_of job), .*\"nightly backup\""
tell client guard second socket 'STATUS=busy'
is "so does a pair of sockets" "$(leases job)" 2
is "the rest of the message counts" "$(field job .service.status)" busy
tell client drop nightly_backup
ok "the end of the other end releases it" wait_for 5 has_leases job 1
tell client keep second
child=$(last_child client)
is "a child has it too" "$(leases job)" 1
kill -KILL "$child"
ok "until the last copy is closed" wait_for 5 has_leases job 0
for kind in pipe socket; do
	tell client guard "$kind" "$kind"
	tell client bury "$kind"
	ok "a $kind that is sent into itself does not keep its guard" wait_for 10 has_leases job 0
done
ok "nothing is left open" wait_for 5 has_descriptors "$before"

# --- Messages that take no guard -----------------------------------------------------------------

tell client guard a file
tell client guard b dgram
tell client guard c two
tell client guard d none
tell client guard e pipe 'FDSTORE=1'
tell client guard - pipe
is "a guard that cannot end, has a wrong kind or no name is refused" "$(leases job) $(refused)" "0 6"
tell client drop -
like "and why" "$(cat "$log")" 'refused: not an end of a pipe'
tell client drop b
tell client drop c
tell client drop e
ok "it is closed" wait_for 5 has_descriptors "$before"
for i in {1..64}; do
	tell client guard "n$i" pipe
done
tell client guard toomany pipe
is "there are so many for each service" "$(leases job)" 64
like "and why not more" "$(cat "$log")" 'refused: limit of 64 descriptors for each node'
tell client lost toomany
is "the sender learns of the refusal" "$(heard toomany)" lost
for i in {1..64}; do
	tell client drop "n$i"
done
ok "all are released" wait_for 10 has_leases job 0

# --- Beyond the process that asked ---------------------------------------------------------------

tell client guard inherited pipe
tell client keep inherited
child=$(last_child client)
echo "exit 0" >"$dir/client"
ok "the process ends" wait_for 10 has_state job "done"
is "a process that it left behind holds the guard" "$(leases job)" 1
kill -KILL "$child"
ok "until it ends as well" wait_for 10 has_leases job 0

# --- The stop ------------------------------------------------------------------------------------

tell deaf patient
tell deaf guard held pipe
ctl shutdown deaf --no-wait
ok "it is asked to end" wait_for 5 says "$log" 'deaf: SIGTERM to pid'
tell deaf guard new pipe
is "nothing new after the stop" "$(leases deaf)" 1
like "and why" "$(cat "$log")" 'deaf: X_SWANSONG_GUARD is refused: the node is stopped'
tell deaf lost new
ctl shutdown --no-wait --force
await_daemon 20
is "a guard that is held too long is revoked, and the stop is forced" "$status" 124
like "by name" "$(cat "$log")" 'deaf: revoking the guard of pid [0-9]+ \(.*\): held'
finish
