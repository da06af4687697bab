#!/bin/bash
# on-success-start and on-failure-start: services that start with the end of another one, once for each run, also
# over a fault of the daemon, and not during a shutdown.
. "${0%/*}/lib.sh"

trace=$dir/trace
: >"$trace"
has_run() { [ "$(grep -c "^$1\$" "$trace")" = "$2" ]; } # WORD NUMBER
oneshot() { printf '[%s]\ncommand = sh -c "echo %s >>%s"\ntype = oneshot\nautostart = no\n' "$1" "$1" "$trace"; }
{
	cat <<-END
		[swansong]
		shutdown-timeout = 60s
		exit-when = never
		state = $dir/state
		[backup]
		command = sh -c 'echo backup >>$trace; exit \$(cat $dir/status)'
		type = oneshot
		restart = never
		autostart = no
		on-success-start = report copies/a item@
		on-failure-start = alarm
		[kept]
		command = sh -c 'echo kept >>$trace'
		type = oneshot
		post-start = true
		post-stop = true
		autostart = no
		on-success-start = after-kept
		[flaky]
		command = sh -c 'echo flaky >>$trace; exit 1'
		restart-delay = 1ms
		restart-limit = 2/1min
		autostart = no
		on-failure-start = %n-fallback
		[flaky-fallback]
		command = $helpers/idle
		autostart = no
		[skipped]
		command = true
		type = oneshot
		condition = path:$dir/missing
		autostart = no
		on-success-start = never
		[served]
		command = $helpers/idle
		on-success-start = never
		on-failure-start = never
		[item@]
		command = sh -c 'echo %n >>$trace'
		instances = 2
		type = oneshot
		autostart = no
		[one]
		command = sh -c 'echo one >>$trace; [ -e $dir/stop ]'
		type = oneshot
		restart = never
		restart-delay = 50ms
		autostart = no
		on-failure-start = two
		[two]
		command = sh -c 'echo two >>$trace; exit 1'
		type = oneshot
		restart = never
		restart-delay = 50ms
		autostart = no
		on-failure-start = one
		[over]
		command = sh -c 'echo over >>$trace; read -r _ <$dir/over'
		autostart = no
		on-success-start = after-over
		[ending]
		command = $helpers/idle
		stop-signal = SIGINT
		on-success-start = at-end
	END
	for name in report copies/a copies/b alarm after-kept never after-over at-end; do
		oneshot "$name"
	done
} | config
mkfifo "$dir/over"
echo 0 >"$dir/status"
own_program
start_daemon
ok "all is ready" ctl wait --for ready --timeout 30s
is "nothing has run before" "$(cat "$trace")" ""

ok "work succeeds" ctl start backup
for word in report copies/a item@1 item@2; do
	ok "then $word starts" wait_for 10 has_run "$word" 1
done
ok "which is logged" says "$log" 'report: started after backup: on-success-start'
ok "no other node does" not says "$trace" '^(alarm|copies/b)$'
ok "a second run" ctl restart backup
ok "starts what has ended before once more" wait_for 10 has_run report 2
ok "of each instance" wait_for 10 has_run item@2 2
echo 3 >"$dir/status"
ok "work that fails" not ctl restart backup
ok "starts the node for that" wait_for 10 has_run alarm 1
ok "and not the other" has_run report 2
ctl stop alarm >/dev/null
ok "it fails again" not ctl restart backup
ok "and starts a node that was stopped by hand" wait_for 10 has_run alarm 2
ok "unless that" ctl disable alarm
ok "is disabled" not ctl restart backup
ok "which is logged" wait_for 10 says "$log" 'alarm: not started after backup: it is disabled'
ok "it has not run" has_run alarm 2

ok "a oneshot that stays up for its post-stop" ctl start kept
ok "has ended with its work" wait_for 10 has_run after-kept 1
ok "its stop" ctl stop kept
ctl start flaky >/dev/null 2>&1
ok "a service that is given up" wait_for 10 has_state flaky failed
ok "starts its fallback" wait_for 10 has_state flaky-fallback up
ok "after its last restart" has_run flaky 3
is "once" "$(grep -c 'flaky-fallback: started after flaky' "$log")" 1
fallback=$(pid_of flaky-fallback)
ok "a start that fails again" not ctl start flaky --settle 1s
ok "leaves the fallback" wait_for 10 says "$log" 'flaky-fallback: started after flaky'
is "as it is" "$(pid_of flaky-fallback)" "$fallback"
ok "a service that is skipped" ctl start skipped
ok "or stopped" ctl stop served
ok "starts none" not says "$trace" never

ctl start one >/dev/null 2>&1
has_run_often() { [ "$(grep -c "^$1\$" "$trace")" -ge 3 ]; } # WORD
ok "services that start each other" wait_for 10 has_run_often two
touch "$dir/stop"
ok "do so until one succeeds" wait_for 10 has_state one 'done'
ok "with restart-delay between two runs" says "$log" 'one: started after two: on-failure-start'

ok "a service runs" ctl start over
wait_for 10 has_run over 1
runs=$(grep -vc '^over$' "$trace")
kill -SEGV "$daemon"
ok "the daemon has a fault" wait_for 10 says "$log" "fault: SIGSEGV"
ok "and goes on" wait_for 10 ctl_answers
is "with what was given up" "$(state flaky)" failed
is "its fallback" "$(pid_of flaky-fallback)" "$fallback"
is "and what was done" "$(state report)" 'done'
echo >"$dir/over"
ok "the service ends after it" wait_for 10 has_state over 'done'
ok "and starts what it names" wait_for 10 has_run after-over 1
is "nothing else was started twice" "$(grep -vc '^over$' "$trace")" $((runs + 1))
ok "an upgrade" ctl upgrade
ok "is the same" wait_for 10 ctl_answers
is "nothing starts with it" "$(grep -vc '^over$' "$trace")" $((runs + 1))

sed -i "s/^on-success-start = at-end/on-success-start = ending no-such-node report@ swansong/" "$ini"
checked=$(ctl check "$ini" 2>&1)
like "check warns of a service that names itself" "$checked" "\[ending\] on-success-start: 'ending' contains this service"
like "of a node that does not exist" "$checked" "on-success-start: no node 'no-such-node': "
like "of a template without instances" "$checked" "on-success-start: no node 'report@': "
like "and of the root" "$checked" "on-success-start: 'swansong' is the root"
like "but it is valid" "$checked" ": ok, "
ok "a reload has this at once" ctl reload
ok "and back" sed -i "s/^on-success-start = ending.*/on-success-start = at-end/" "$ini"
ok "to the other" ctl reload

kill -INT "$(pid_of ending)"
ok "an end by itself starts a node" wait_for 10 has_run at-end 1
ok "the service is started again" ctl start ending
cat >>"$ini" <<-END
	[slow]
	command = sh -c 'trap "" TERM; echo slow >>$trace; read -r _ <$dir/over'
	type = oneshot
	autostart = no
	stop-timeout = 60s
	on-success-start = report
	on-failure-start = report
	[quick]
	command = true
	type = oneshot
	autostart = no
	on-success-start = slow
END
ok "a reload adds two" ctl reload
before=$(grep -c '^report$' "$trace")
ok "a chain starts" ctl start quick
ok "long work" wait_for 10 has_run slow 1
kill -TERM "$daemon"
ok "a shutdown in the middle" wait_for 10 has_state slow stopping
is "waits for it" "$(state slow)" stopping
echo >"$dir/over"
await_daemon 30
is "ends in order" "$status" 0
is "and no end in it starts a node" "$(grep -c '^report$' "$trace") $(grep -c '^at-end$' "$trace")" "$before 1"
finish
