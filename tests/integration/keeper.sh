#!/bin/bash
# With a keeper nothing stops when the daemon is killed: its next image has all descriptors, and the exits that it has
# missed.
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"

own_program
swansongd_in_cgroup() { in_cgroup "$dir/swansongd" "$@"; }
swansongd=swansongd_in_cgroup
mkfifo "$dir/db.go" "$dir/web.go" "$dir/hold"
config <<END
[db]
command = $helpers/signal-log $dir/db 0 $dir/db.go
listen = unix:$dir/db.socket
control = yes
[web]
command = $helpers/signal-log $dir/web 0 $dir/web.go
requires = db
[ends]
command = $helpers/idle
restart-delay = 10ms
[remains]
command = sh -c '(setsid $helpers/idle &); exec $helpers/idle'
[count]
command = $counting
log = file:$dir/count.log
stop-signal = KILL
[done]
command = sh -c 'echo done >>$dir/done'
type = oneshot
END
pids() { for node in db web ends remains count; do pid_of $node; done | xargs; }
# An upgrade keeps two programs, of the former image and of the next one, with their loggers and sandboxes.
is_program='/swansong(d|-logger|-sandbox)$'
descriptors_of_keeper() { find "/proc/$daemon/fd" -type l -printf '%l\n' | sort; }
has_no_more() {
	descriptors_of_keeper >"$dir/later"
	[ "$(grep -cvE "$is_program" "$dir/later")" -le "$(grep -cvE "$is_program" "$dir/before")" ] &&
		[ "$(grep -cE "$is_program" "$dir/later")" -le 6 ]
}
is_another() { [ -n "$(worker)" ] && [ "$(worker)" != "$1" ] && ctl_answers; } # PID
kill_worker() { # NAME [SIGNAL]
	local before
	before=$(worker)
	kill "-${2:-KILL}" "$before"
	ok "$1: another daemon answers" wait_for 10 is_another "$before"
}
has_one_program() { [ "$(readlink "/proc/$daemon/exe")" = "$(readlink "/proc/$(worker)/exe")" ]; }
begin() { # [COMMAND...]
	launch "$@" "$swansongd" --keeper -v -c "$ini" --socket "$socket"
	wait_for 10 ctl_answers || die "swansongd answers"
	ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
	old=$(pids)
}
has_idle() { [ "$(pgrep -cx idle)" = "$1" ]; } # NUMBER
goes_on() { # NAME
	is "$1: no service was touched" "$(pids)" "$old"
	ok "$1: nothing runs twice" wait_for 10 has_idle 3
	is "$1: or ran twice" "$(cat "$dir/done")" "done"
	like "$1: the guard is held" "$(ctl guards db)" backup
}
rounds() { # NAME
	ctl guard db --why backup -- cat "$dir/hold" >/dev/null &
	guard=$!
	cleanup_fn end_process "$guard"
	wait_for 10 has_leases db 1 || die "the guard is held"
	wait_for 10 has_connections 1 || die "the guard has the only connection"
	descriptors_of_keeper >"$dir/before"
	kill_worker "$1: SIGKILL"
	goes_on "$1: SIGKILL"
	ok "$1: the log has it" says "$log" 'fault: SIGKILL, '
	kill_worker "$1: a fault" SEGV
	goes_on "$1: a fault"
	ok "$1: with its place" says "$log" 'fault: SIGSEGV.* in .*swansongd[+]0x'
	kill -ABRT "$daemon"
	ok "$1: a watchdog reaches the daemon" wait_for 10 says "$log" 'fault: SIGABRT'
	ok "$1: which goes on" wait_for 10 ctl_answers
	goes_on "$1: a watchdog"
	ok "$1: an upgrade is done" ctl upgrade
	ok "$1: it is one of both" wait_for 10 has_one_program
	goes_on "$1: an upgrade"
	ok "$1: no descriptor is left over" wait_for 10 has_no_more
	has_no_more || diff "$dir/before" "$dir/later" | comment
	kill -STOP "$(worker)"
	kill -USR1 "$(pid_of_ends)"
	kill_worker "$1: an exit that no daemon saw"
	ok "$1: has its status" wait_for 5 says "$log" 'ends: killed by SIGUSR1'
	ok "$1: and its restart" wait_for 5 has_state ends up
	old=$(pids)
}
# The daemon does not answer then.
pid_of_ends() { echo "$old" | cut -d ' ' -f 3; }

# --- In control groups, and without ---

begin
is "the keeper has a name of its own" "$(cat "/proc/$daemon/comm") $(cat "/proc/$(worker)/comm")" "swansong-keeper swansongd"
is "and is the parent of all" "$(ps -o ppid= -p "$(pid_of web)" -p "$(pid_of remains)" -p "$(worker)" | sort -u | xargs)" "$daemon"
within "in little memory (kB)" "$(awk '/^RssAnon/ { print $2 }' "/proc/$daemon/status")" 1 1000
rounds "in groups"
ctl shutdown --no-wait >/dev/null
wait_for 5 says "$dir/web" TERM || die "the shutdown has begun"
kill_worker "a shutdown"
is "it goes on, and waits for the dependent" "$(state web) $(cat "$dir/db")" "stopping ready"
echo >"$dir/web.go"
ok "then it waits for the guard" wait_for 5 says "$dir/db" TERM
echo >"$dir/db.go"
echo >"$dir/hold"
await_daemon 20
is "its status is that of the keeper" "$status" 0
ok "nothing is left" wait_for 5 nobody_else
is "no group either" "$(groups_left)" ""
ok "no line was lost, or written twice" has_each_line 100

remove_cgroup
hide_cgroups
own_program
rm -f "$dir/done" "$dir/count.log"
: >"$dir/web"
begin
rounds "without groups"
kill -TERM "$daemon"
wait_for 5 says "$dir/web" TERM || die "a signal to the keeper begins the shutdown"
kill_worker "the fifth within a minute"
echo >"$dir/hold"
kill -KILL "$(worker)"
await_daemon 20
is "the sixth is the last" "$status" 137
ok "and leaves nothing" wait_for 5 nobody_else
ok "no line was lost either" has_each_line 100

# --- As process 1 of a container ---

rm -f "$dir/done" "$dir/count.log"
launch unshare --pid --fork --mount-proc --kill-child "$swansongd" --keeper -v -c "$ini" --socket "$socket"
wait_for 10 ctl_answers || die "process 1 answers"
ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
web=$(pid_of web) outer=$daemon
daemon=$(pgrep -P "$daemon")
kill_worker "a container"
is "its services are those from before" "$(pid_of web)" "$web"
daemon=$outer
end_process "$daemon"
wait_for 10 nobody_else

# --- The keeper itself ---

rm -f "$dir/done"
begin
# Each next daemon is killed as soon as there is one.
ctl guard db --why backup -- cat "$dir/hold" >/dev/null &
guard=$!
cleanup_fn end_process "$guard"
wait_for 10 has_leases db 1 || die "the guard is held"
read -ra known <"/proc/$daemon/task/$daemon/children"
kill -KILL "$(worker)"
for _ in 1 2 3; do
	next=
	while [ -z "$next" ]; do
		for pid in $(<"/proc/$daemon/task/$daemon/children"); do
			[[ " ${known[*]} " == *" $pid "* ]] || next=$pid
		done
	done
	known+=("$next")
	kill -KILL "$next"
done
ok "the fourth of daemons that are killed at once answers" wait_for 10 ctl_answers
ok "all are ready" ctl wait --for ready --timeout 60s
goes_on "four in a row"
echo >"$dir/hold"
worker=$(worker)
end_process "$daemon"
ok "its end is that of the daemon" wait_for 5 gone "$worker"
is "it is not for one command" "$("$swansongd" --keeper -- true 2>&1) $?" \
	"swansongd: --keeper goes with a configuration, not with a command 2"
finish
