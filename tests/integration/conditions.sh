#!/bin/bash
# A service of which a condition does not hold is skipped: that is no failure, nothing of it runs, and the
# services that require it start.
. "${0%/*}/lib.sh"

cat >"$dir/trace" </dev/null
config <<END
[holds]
command = $helpers/idle
condition = path:$dir
condition = !path:$dir/missing
condition = !path:$dir/trace/file
condition = env:GIVEN
condition = !env:GIVE
condition = exec:test -d "$dir"
environment = GIVEN=
directory = $dir
[skipped]
command = sh -c 'echo main >>$dir/trace; exec sleep 1000'
condition = path:$dir
condition = path:$dir/there
start-command = sh -c 'echo start >>$dir/trace'
post-stop = sh -c 'echo post-stop >>$dir/trace'
restart = always
[after]
command = $helpers/idle
requires = skipped
[bound]
command = $helpers/idle
binds-to = skipped
[essential]
command = $helpers/idle
condition = path:$dir/missing
essential = yes
[work]
command = sh -c 'echo work >>$dir/trace'
type = oneshot
condition = exec:sh -c 'exit \$(cat $dir/status)'
stop-command = true
autostart = no
[env]
command = $helpers/idle
condition = env:NO_SUCH_VARIABLE
autostart = no
[program]
command = $helpers/idle
condition = exec:$dir/no-program
restart = never
autostart = no
[demand]
command = $helpers/idle
listen = tcp:127.0.0.1:8080
autostart = on-demand
condition = path:$dir/demanded
restart-delay = 1h
restart-delay-max = 1h
[long]
command = $helpers/idle
condition = exec:sh -c 'echo >$dir/began; exec sleep 1000'
autostart = no
END
start_daemon

wait_for 10 has_state holds up
ok "a service of which all conditions hold starts" has_state holds up
ok "another one is done" wait_for 10 has_state skipped 'done'
ok "so the services that require it start" wait_for 10 has_state after up
ok "also a service that is bound to it" wait_for 10 has_state bound up
like "status has the condition" "$(ctl status skipped)" "condition path:$dir/there does not hold"
ok "and so has the log" says "$log" "skipped: condition path:$dir/there does not hold; done"
is "nothing of the service has run" "$(cat "$dir/trace")" ""
ok "all are ready" ctl wait --for ready --timeout 60s
ok "a start checks anew" ctl start skipped
is "and skips it again" "$(state skipped)" 'done'
touch "$dir/there"
ok "once the condition holds" ctl start skipped
ok "it runs" wait_for 10 has_state skipped up
wait_for 10 says "$dir/trace" main
is "with its commands" "$(tr '\n' ' ' <"$dir/trace")" "start main "
rm "$dir/there"
: >"$dir/trace"
ok "a restart checks as well" ctl restart skipped
ok "and leaves it" wait_for 10 has_state skipped 'done'
is "after the post-stop of the run before" "$(cat "$dir/trace")" post-stop
is "the daemon does not end with an essential service that is skipped" "$(state essential) $(state holds)" "done up"

echo 3 >"$dir/status"
ok "a oneshot is skipped by a command" ctl start work
is "it is done" "$(state work)" 'done'
like "with the reason" "$(ctl status work)" 'condition exec:sh does not hold'
echo 255 >"$dir/status"
ok "the status 255 of such a command is a failure" not ctl start work
like "with the reason" "$(ctl status work)" "condition exited with status 255"
echo 0 >"$dir/status"
: >"$dir/trace"
ok "the status 0 is none" ctl start work
is "and it works" "$(cat "$dir/trace")" work
ok "a variable that is missing" ctl start env
like "is a reason" "$(ctl status env)" "condition env:NO_SUCH_VARIABLE does not hold"
ok "a command that is missing is a failure" not ctl start program
like "which is named" "$(ctl status program)" "condition cannot start: execute exec:$dir/no-program: No such file"

exec 5<>/dev/tcp/127.0.0.1/8080
is_skipped() { ctl status demand | grep -Eq "condition (path:$dir/demanded )?does not hold"; }
ok "a connection does not start a service that is skipped" wait_for 10 is_skipped
is "which is down again" "$(state demand)" down
sed -i "s|^condition = path:$dir/demanded|&-later|" "$ini"
ok "a reload" ctl reload
ok "has no effect before its next start" is_skipped
exec 5<&-

ctl start long --no-wait >/dev/null
ok "a command takes its time" wait_for 10 test -e "$dir/began"
is "the start goes on" "$(state long)" preparing
began=$(now)
ok "until a stop" ctl stop long
within "which ends it" $(($(now) - began)) 0 5000

kill -SEGV "$daemon"
ok "the daemon has a fault" wait_for 10 says "$log" "fault: SIGSEGV"
ok "and goes on" wait_for 10 ctl_answers
is "with the service skipped" "$(state skipped)" 'done'
like "as before" "$(ctl status skipped)" "condition does not hold"
is "and the others up" "$(state after) $(state bound)" "up up"

sed -i "s|^condition = path:$dir/there|condition = !path:$dir/there|" "$ini"
ok "a reload" ctl reload
ok "is for the next start" ctl start skipped
ok "which finds that it holds" wait_for 10 has_state skipped up

if is_root; then
	mount_hanging "$dir/hung"
	cat >>"$ini" <<-END
		[hung]
		command = $helpers/idle
		condition = path:$dir/hung/there
		autostart = no
		restart = never
		start-timeout = 1s
	END
	ctl reload >/dev/null
	ctl start hung --no-wait >/dev/null
	began=$(now)
	ok "the daemon answers while a path does not" timeout 10 "$swansongctl" status holds
	within "at once" $(($(now) - began)) 0 5000
	ok "and ends the start in time" wait_for 10 has_state hung failed
	like "with the reason" "$(ctl status hung)" "condition was not done within its start-timeout"
else
	skip "a path that hangs" "machine: needs root"
fi
stop_daemon
is "a shutdown ends all" "$status" 0
finish
