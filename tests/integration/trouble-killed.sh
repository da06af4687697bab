#!/bin/bash
# The daemon itself is killed: its services live on without a stop, and the next daemon takes its place.  As
# process 1 it takes everything with it.
. "${0%/*}/lib.sh"
# Cases with control groups are in cgroup-killed.sh and cgroup-trouble.sh.
hide_cgroups

config <<END
[one]
command = $helpers/idle
[two]
command = $helpers/notifier $dir/fifo
ready = notify
[web]
command = $helpers/idle
listen = unix:$dir/web tcp:127.0.0.1:8080
[job]
command = sh -c 'echo >>$dir/jobs; exec $helpers/idle'
post-stop = touch $dir/post-stop
END
mkfifo "$dir/fifo"
exec 9<>"$dir/fifo"

start_daemon
echo READY=1 >&9
ok "all is up" ctl wait --for ready --timeout 20s
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

# The sockets are with the old service; their addresses are free when that has ended.
launch "$swansongd" -v -c "$ini" --socket "$socket"
await_daemon 10
is "an address that an old service has is not taken from it" "$status" 1
ok "and the reason is logged" says "$log" '\[web\] listen: cannot listen on .*: Address already in use'
kill -TERM "${old[web]}"
wait_for 10 is_zombie_or_gone "${old[web]}"

start_daemon
ok "the next takes its place: the control socket, and that of the service" wait_for 10 has_state web up
ok "the next daemon starts its services" wait_for 10 has_state one up
is "once more, as the old ones are not its" "$(wc -l <"$dir/jobs")" 2
warned() { # NUMBER PROCESSES
	says "$log" "Z swansongd: $1 process(es)? of these services left from an earlier swansongd: end"
}
ok "it warns of the three that are left" warned 3
ok "and names them" says "$log" "two: pid ${old[two]} \(notifier\) is left from an earlier swansongd"
ok "the old processes are kept" kill -0 "${old[one]}" "${old[job]}"
stop_daemon
is "an end of it is as ever" "$status" 0
ok "and is not theirs" kill -0 "${old[one]}" "${old[job]}"
for node in one two job; do end_process "${old[$node]}"; done

# --- Many, and those of other trees ---

cp "$ini" "$dir/four.ini"
for i in {1..20}; do service "many-$i"; done | config
start_daemon
ok "many services are up" ctl wait --for ready --timeout 20s
: >"$log"
launch "$swansongd" -c "$ini" --socket "$dir/second"
ok "a second daemon starts the same services" wait_for 10 "$swansongctl" -s "$dir/second" wait --for ready --timeout 20s
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
start_daemon
ok "twenty processes are left, and a process of another user is none of them" warned 20
is "eight of them are named" "$(grep -c ' is left from an earlier swansongd' "$log")" 8
stop_daemon
for pid in "${many[@]}" "$other"; do end_process "$pid"; done
cp "$dir/four.ini" "$ini"

# --- As process 1 ---

rm -f "$dir/jobs" "$dir/web"
sed -i 's/ tcp:127.0.0.1:8080//' "$ini"
launch unshare --pid --fork --mount-proc --kill-child "$swansongd" -v -c "$ini" --socket "$socket"
wait_for 10 ctl status >/dev/null 2>&1 || die "process 1 answers"
ok "its services are there" wait_for 10 has_state job up
inside=$(pgrep -P "$daemon")
mapfile -t services < <(pgrep -P "$inside")
is "four services and the logger are its children" "${#services[@]}" 5
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
