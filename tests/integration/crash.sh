#!/bin/bash
# A fault of the daemon: it goes on in the same process, and so do its services.  Those that it does not find in its
# roster are stopped in order and start again.
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"
. "${0%/*}/preload-lib.sh"

ulimit -Sn 1000 # the daemon raises its own
mkfifo "$dir/web.go" "$dir/db.go" "$dir/lines" "$dir/messages"
exec 9<>"$dir/messages"
config <<END
[db]
command = $helpers/signal-log $dir/db 0 $dir/db.go
listen = unix:$dir/db.socket
control = yes
[web]
command = $helpers/signal-log $dir/web 0 $dir/web.go
requires = db
[job]
command = sh -c '(setsid $helpers/idle &); echo line >>$dir/runs; echo line; exec $helpers/idle'
log = file:$dir/job.log
[echo]
command = sh -c 'while read -r line; do echo "\$line"; done <>$dir/lines'
log = file:$dir/echo.log
restart-delay = 10ms
[count]
command = $counting
log = file:$dir/count.log
stop-signal = KILL
[speaker]
command = $helpers/notifier $dir/messages
ready = notify
autostart = no
[done]
command = sh -c 'echo done >>$dir/done'
type = oneshot
END
has_all_output() { [ "$(wc -l <"$dir/job.log")" = "$(wc -l <"$dir/runs")" ]; }
signals_of() { grep -E '^Sig(Blk|Ign)' "/proc/$1/status" | xargs; } # PID
has_idle() { [ "$(pgrep -cx idle)" = "$1" ]; } # NUMBER
faults_of() { # NAME SIGNAL
	local signals node
	declare -A old
	: >"$log"
	for node in db web job echo count speaker; do old[$node]=$(pid_of "$node"); done
	signals=$(signals_of "${old[db]}")
	kill "-$2" "$daemon"
	ok "$1: it reports $2 with its place" wait_for 10 says "$log" "fault: SIG$2.* in .*swansongd[+]0x[0-9a-f]+, "
	ok "$1: and answers again" wait_for 10 ctl_answers
	is "$1: it is the same process" "$(cat "/proc/$daemon/comm")" "$comm"
	ok "$1: all are up" ctl wait --for ready --timeout 60s
	for node in db web job echo count speaker; do
		is "$1: $node goes on" "$(state "$node") $(pid_of "$node")" "up ${old[$node]}"
	done
	echo "after $1" >"$dir/lines"
	ok "$1: its output is written" wait_for 5 says "$dir/echo.log" "^after $1\$"
	ctl logs --follow echo >"$dir/follow" &
	follower=$!
	ok "$1: and shown" wait_for 5 says "$dir/follow" "after $1\$"
	echo "more $1" >"$dir/lines"
	ok "$1: as it comes" wait_for 5 says "$dir/follow" "more $1\$"
	end_process "$follower"
	mv "$dir/echo.log" "$dir/echo.old"
	kill -USR2 "$daemon"
	reopened() { echo "again $1" >"$dir/lines" && says "$dir/echo.log" "^again $1\$"; }
	ok "$1: its file is opened anew" wait_for 5 reopened "$1"
	echo "STATUS=after $1" >&9
	has_status() { ctl status --json | grep -q "after $1"; }
	ok "$1: its messages arrive" wait_for 5 has_status "$1"
	kill -KILL "${old[echo]}"
	ok "$1: its exit status is known" wait_for 5 says "$log" 'echo: killed by SIGKILL'
	ok "$1: and it is restarted" wait_for 5 has_state echo up
	like "$1: with the limits of the first start" "$(grep 'open files' "/proc/$(pid_of echo)/limits")" ' 1000 '
	echo "anew $1" >"$dir/lines"
	ok "$1: with its output in the same file" wait_for 5 says "$dir/echo.log" "^anew $1\$"
	is "$1: its signals are those of the first start" "$(signals_of "$(pid_of db)")" "$signals"
	ok "$1: nothing runs twice" wait_for 10 has_idle 2
	ok "$1: the output of its run is there" wait_for 5 has_all_output
}

ends_as_ever() {
	exec 7<>"$dir/db.go" 8<>"$dir/web.go"
	echo >&7 && echo >&8
	stop_daemon
	is "it ends as ever" "$status" 0
	ok "nothing is left" wait_for 5 nobody_else
	ok "no line was lost, or written twice" has_each_line 100
	exec 7>&- 8>&-
}
begin() {
	echo READY=1 >&9
	ctl start speaker >/dev/null
	ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
}

start_daemon
begin
comm=$(cat "/proc/$daemon/comm")
faults_of "a wild pointer" SEGV
faults_of "a watchdog" ABRT
ends_as_ever
is "no group either" "$(groups_left)" ""

# --- Without control groups ---

remove_cgroup
hide_cgroups
swansongd=$top_builddir/swansongd
: >"$dir/runs" && rm "$dir/job.log" "$dir/count.log"
start_daemon
begin
comm=$(cat "/proc/$daemon/comm")
faults_of "without control groups" BUS
ends_as_ever

# --- As process 1 of a container ---

: >"$dir/runs" && rm "$dir/job.log" "$dir/count.log"
launch unshare --pid --fork --mount-proc --kill-child "$swansongd" -v -c "$ini" --socket "$socket"
wait_for 10 ctl_answers || die "process 1 answers"
ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
inside=$(pgrep -P "$daemon") web=$(pid_of web)
kill -SEGV "$inside"
ok "process 1 goes on after a fault" wait_for 10 says "$log" "fault: SIGSEGV"
ok "its services are up" ctl wait --for ready --timeout 60s
is "as before" "$(pid_of web)" "$web"
ok "the container goes on" kill -0 "$inside"
end_process "$daemon"
wait_for 5 gone "$inside" || die "the container ends"

# --- A roster that is damaged ---

damage_roster() {
	local fd
	for fd in "/proc/$daemon/fd"/*; do
		[[ $(readlink "$fd") != */memfd:*crashes* ]] || truncate -s 4096 "$fd"
	done
}
start_daemon
begin
: >"$dir/db" && : >"$dir/web"
db=$(pid_of db) web=$(pid_of web)
damage_roster
kill -SEGV "$daemon"
ok "without the roster the dependent is asked to end" wait_for 10 says "$dir/web" TERM
is "by its old process" "$(pid_of web)" "$web"
is "its requirement is not" "$(cat "$dir/db")" ""
echo >"$dir/web.go"
ok "then that is asked" wait_for 5 says "$dir/db" TERM
echo >"$dir/db.go"
ok "all start again" ctl wait --for ready --timeout 60s
ok "the old ones have ended" gone "$db" "$web"
ok "and there are new ones" [ "$(pid_of db)" != "$db" ]
exec 7<>"$dir/db.go" 8<>"$dir/web.go"
echo >&7 && echo >&8
stop_daemon
exec 7>&- 8>&-

# --- An edit in progress ---

mkdir "${ini%.ini}.d"
echo KIND=old >"$dir/environment"
printf '%s\n' '[web]' "environment-file = $dir/environment" >"${ini%.ini}.d/web.ini"
service web | config
start_daemon
ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
editing=$(pid_of web)
echo '[web' >>"$ini"
rm "$dir/environment"
: >"$log"
for ((i = 1; i <= 2; i++)); do
	kill -SEGV "$daemon"
	ok "fault $i during an edit: it goes on" wait_for 10 says "$log" "fault: SIGSEGV"
	ok "and answers" wait_for 10 ctl_answers
	is "with its service" "$(state web) $(pid_of web)" "up $editing"
	ok "by the configuration of before" says "$log" 'configuration is the one from before'
	: >"$log"
done
ok "a reload reads the files" not ctl reload
ok "and names the mistake" says "$log" "$ini:[0-9]*: "
is "of which nothing is applied" "$(state web) $(pid_of web)" "up $editing"
ctl restart web >/dev/null
like "a restart has the environment of before" "$(tr '\0' '\n' <"/proc/$(pid_of web)/environ")" KIND=old
editing=$(pid_of web)
echo KIND=new >"$dir/environment"
{ service web; service other; } | config
ok "a reload applies what is repaired" ctl reload
ok "all of it" wait_for 5 has_state other up
editing=$(pid_of web)
service web | config
kill -SEGV "$daemon"
ok "a further fault" wait_for 10 says "$log" "fault: SIGSEGV"
ok "goes on" wait_for 10 ctl_answers
is "with that" "$(state other) $(pid_of web)" "up $editing"
stop_daemon
rm -r "${ini%.ini}.d"

# --- A daemon that hangs ---

if [ -n "$lack" ]; then
	skip "a daemon hangs" "$lack"
	finish
fi
service web | config
start_preloaded
ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
hanging=$(pid_of web)
: >"$faults/hang"
ctl status >/dev/null 2>&1 &
hung() { ! timeout 1 "$swansongctl" status >/dev/null 2>&1; }
ok "a daemon hangs" wait_for 10 hung
rm "$faults/hang"
kill -ABRT "$daemon"
ok "aborted by a watchdog it answers" wait_for 10 ctl_answers
is "its service goes on" "$(pid_of web)" "$hanging"
ok "and up" ctl wait --for ready --timeout 60s
wait %% 2>/dev/null
stop_daemon
is "it ends as ever" "$status" 0
finish
