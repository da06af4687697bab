#!/bin/bash
# The daemon itself is killed: its services live on without a stop, and the next daemon takes its place, stops them in
# their order, and starts them again.  As process 1 it takes everything with it.
. "${0%/*}/lib.sh"
# Cases with control groups are in cgroup-killed.sh and cgroup-trouble.sh.
hide_cgroups

config <<END
[one]
command = $helpers/signal-log $dir/one
[two]
command = $helpers/notifier $dir/fifo
ready = notify
[web]
command = $helpers/idle
listen = unix:$dir/web tcp:127.0.0.1:8080
[job]
command = sh -c '(setsid $helpers/idle &); echo >>$dir/jobs; exec $helpers/signal-log $dir/job 0 $dir/go'
post-stop = touch $dir/post-stop
requires = one
END
mkfifo "$dir/fifo" "$dir/go"
exec 9<>"$dir/fifo"

start_daemon
echo READY=1 >&9
ok "all is up" ctl wait --for ready --timeout 60s
declare -A old
for node in one two web job; do old[$node]=$(pid_of "$node"); done
first=$daemon
kill -KILL "$first"
wait "$first" 2>/dev/null
ok "its services live on" kill -0 "${old[@]}"
ok "nothing was done about them" not test -e "$dir/post-stop"
ok "their word goes nowhere, and they live with that" eval 'echo STATUS=alone >&9'
ctl status --timeout 5s >"$dir/said" 2>&1
is "a client learns that there is no daemon" "$?" 3
like "and where" "$(cat "$dir/said")" "$socket"

# A daemon with another control socket has no claim to the sockets of the old service; the next one has.
launch "$swansongd" -v -c "$ini" --socket "$dir/second"
await_daemon 10
is "an address that an old service has is not taken from it" "$status" 1
ok "and the reason is logged" says "$log" '\[web\] listen: cannot listen on .*: Address already in use'
exec 8<>/dev/tcp/127.0.0.1/8080
waits_in() { ss -Htl "sport = :$1" | awk '{ print $2 }'; } # PORT
is "a connection waits in its socket" "$(waits_in 8080)" 1

left=$(pgrep -x idle)
start_daemon
ok "the next takes its place: the control socket, and that of the service" wait_for 10 has_state web up
is "in which the connection waits" "$(waits_in 8080)" 1
exec 8>&-
stops() { says "$log" "$1: stopping 1 processes of an earlier swansongd, with pid ${old[$1]} "; } # NODE
for node in one two job; do
	ok "it stops a process of $node" stops "$node"
done
ok "and a remaining process of the last one" says "$log" "job: found remaining pid $left .idle."
ok "a service without a dependent ends at once" wait_for 10 gone "${old[two]}"
echo READY=1 >&9
ok "and is started" wait_for 10 has_state two up
ok "with a process of its own" test "$(pid_of two)" != "${old[two]}"
ok "a dependent gets its stop-signal first" wait_for 10 says "$dir/job" TERM
is "its requirement does not yet" "$(cat "$dir/one")" "ready"
echo >"$dir/go"
ok "then that is stopped" wait_for 10 says "$dir/one" TERM
ok "each is started again" wait_for 10 has_state job up
is "once" "$(wc -l <"$dir/jobs")" 2
ok "the old ones have ended, and the remaining one" gone "${old[@]}" "$left"
ok "with their stop" test -e "$dir/post-stop"
echo >"$dir/go" &
cleanup_fn end_process $!
stop_daemon
is "an end of it is as ever" "$status" 0
ok "nothing is left" wait_for 10 nobody_else

# --- Many, and those of other trees ---

warned() { # NUMBER
	says "$log" "Z swansongd: $1 processes of these services left from an earlier swansongd: end"
}
cp "$ini" "$dir/four.ini"
for i in {1..20}; do service "many-$i"; done | config
start_daemon
ok "many services are up" ctl wait --for ready --timeout 60s
: >"$log"
start_second() {
	launch "$swansongd" -c "$ini" --socket "$dir/second"
	ok "a second daemon starts the same services" \
		wait_for 10 "$swansongctl" -s "$dir/second" wait --for ready --timeout 20s
}
start_second
ok "processes of a daemon that runs are not left" not says "$log" 'left from an earlier'
stop_daemon
await_many() { mapfile -t many < <(pgrep -f "^$helpers/idle") && [ ${#many[@]} = 20 ]; }
wait_for 10 await_many || die "the first daemon has its own"
daemon=$(pgrep -f "^$swansongd .*--socket $socket")
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
SWANSONG_NODE=many-1 setpriv --reuid=65534 --regid=65534 --clear-groups sleep infinity &
other=$!
cleanup_fn end_process "$other"
: >"$log"
start_second
ok "another tree warns of the twenty, and not of a process of another user" warned 20
is "eight of them are named" "$(grep -c ' is left from an earlier swansongd' "$log")" 8
stop_daemon
ok "it lets them be" kill -0 "${many[@]}"
start_daemon
ok "the next daemon of their own ends them" wait_for 10 gone "${many[@]}"
ok "and starts their services" ctl wait --for ready --timeout 60s
if is_root; then
	ok "the process of another user lives" kill -0 "$other"
else
	skip "the process of another user lives" "machine: needs root"
fi
stop_daemon
end_process "$other"
cp "$dir/four.ini" "$ini"

# --- As process 1 ---

rm -f "$dir/jobs" "$dir/web"
sed -i 's/ tcp:127.0.0.1:8080//' "$ini"
launch unshare --pid --fork --mount-proc --kill-child "$swansongd" -v -c "$ini" --socket "$socket"
wait_for 10 ctl status >/dev/null 2>&1 || die "process 1 answers"
ok "its services are there" wait_for 10 has_state job up
inside=$(pgrep -P "$daemon")
mapfile -t services < <(pgrep -P "$inside")
is "four services, the logger and a remaining process are its children" "${#services[@]}" 6
kill -KILL "$inside"
ok "they end with it" wait_for 10 gone "${services[@]}"
await_daemon 10

# --- In front of a command ---

launch "$swansongd" -- "$helpers/idle"
running() { command=$(pgrep -P "$daemon"); }
wait_for 10 running || die "the command runs"
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
ok "a command behind it lives on as well" kill -0 "$command"
end_process "$command"
ok "nothing is left" wait_for 10 nobody_else
finish
