#!/bin/bash
# Faults of the machine: pids that are used again, readers that do not read, no descriptor left, and processes
# by the thousand.
. "${0%/*}/lib.sh"

ticks() { # of processor time, a hundred a second
	awk '{ print $14 + $15 }' "/proc/$daemon/stat"
}

idle_for() { # MILLISECONDS: the daemon takes less than a twentieth of that
	local before after
	before=$(ticks)
	sleep "$(($1 / 1000)).$(printf '%03d' $(($1 % 1000)))"
	after=$(ticks)
	[ $((after - before)) -lt $(($1 / 200)) ] || { echo "$((after - before)) ticks"; return 1; }
}

# --- A pid comes back while the service that had it is being ended ---

config <<END
[first]
command = $helpers/forker --setsid $dir/grandchild
restart = never
stop-timeout = 1s
[second]
command = $helpers/idle
restart = never
END
start_daemon
ctl stop second >/dev/null
wait_for 5 test -s "$dir/grandchild"
pid=$(pid_of first)
# Everything is ready before the pid is free, so that no other process takes it.
cat >"$dir/again.py" <<'END'
import socket, sys
path, pid = sys.argv[1], int(sys.argv[2])
s = socket.socket(socket.AF_UNIX)
s.connect(path)
with open('/proc/sys/kernel/ns_last_pid', 'w') as f:
	f.write(str(pid - 1))
s.send(b'{"method":"io.swansong.Start","parameters":{"node":"second"}}\0')
s.recv(1000)
END
kill -KILL "$pid"
if ! wait_for 5 has_state first cleaning; then
	die "the main process is gone, and something is left"
elif ! python3 "$dir/again.py" "$socket" "$pid" 2>"$dir/refusal" || [ "$(pid_of second)" != "$pid" ]; then
	skip "a pid is given again" "machine: $(tail -n 1 "$dir/refusal")"
else
	ok "the first is ended" wait_for 5 has_state first failed
	ok "and the second, with its pid, was not hit" kill -0 "$pid"
	kill -KILL "$pid"
	ok "the end of that is noticed" wait_for 5 has_state second failed
fi
stop_daemon
is "and no budget is waited out" "$status" 0

# --- The log has no reader that reads ---

mkfifo "$dir/pipe"
exec 9<>"$dir/pipe"
config <<END
[crash]
command = $helpers/crasher -d 1 1
restart-delay = 1ms
restart-delay-max = 1ms
restart-limit = none
log = null
END
"$swansongd" -v -c "$ini" --socket "$socket" 2>&9 &
daemon=$!
cleanup_fn end_process "$daemon"
wait_for 5 ctl_answers
# Five lines each, of 189 bytes: after 350 of them 64 KiB are full.
ok "services go on when the pipe of the log is full" wait_for 120 has_restarts crash 500
timeout 60 cat <&9 >"$dir/rest" &
reader=$!
ok "lost lines are counted" wait_for 5 says "$dir/rest" '[0-9]+ lines of this log were lost'
end_process "$reader"
stop_daemon
is "the end comes as well" "$status" 0
exec 9>&-

# --- The reader of standard error is gone ---

: >"$log"
"$swansongd" -v --socket none -- sleep 0.3 2> >(:)
is "the command gets no signal of it" "$?" 0

# --- No descriptor is left ---

config <<END
[again]
command = $helpers/idle
restart-delay = 10ms
END
start_daemon
limit=$(find "/proc/$daemon/fd" -mindepth 1 -printf '%f\n' | sort -n | tail -n 1)
prlimit --pid "$daemon" --nofile="$limit:" || skip "descriptors run out" "machine: refuses prlimit"
kill -KILL "$(pid_of again)"
ok "the daemon does not spin" idle_for 1000
prlimit --pid "$daemon" --nofile=1000:
ok "the restart succeeds as soon as descriptors are free" wait_for 10 has_state again up
stop_daemon
is "an end is possible all the time" "$status" 0

# --- A parent manager that cannot be notified ---

for address in "$dir/nobody" relative vsock:2:1; do
	: >"$log"
	NOTIFY_SOCKET=$address start_daemon
	ok "NOTIFY_SOCKET=${address##*/} prevents neither services nor sleep" idle_for 500
	stop_daemon
done

# --- Thousands of orphans at once ---

config <<END
[many]
command = $helpers/orphans 3000 1000
restart = never
[other]
command = $helpers/idle
END
"$swansongd" -q -c "$ini" --socket "$socket" >>"$log" 2>&1 &
daemon=$!
cleanup_fn end_process "$daemon"
wait_for 5 ctl_answers
longest=0
until has_state many 'done'; do
	began=$(now)
	ctl status >/dev/null
	took=$(($(now) - began))
	[ "$took" -le "$longest" ] || longest=$took
done
within "an answer never takes long meanwhile" "$longest" 0 10000
no_zombies() { ps -e -o stat= | awk '/Z/ { n++ } END { exit n > 0 }'; }
ok "nothing of them is left" wait_for 10 no_zombies
stop_daemon
is "and the end is as ever" "$status" 0
finish
