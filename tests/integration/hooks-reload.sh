#!/bin/bash
# Asking a service to read its own configuration again: by a signal of its choice, or by commands.
. "${0%/*}/lib.sh"

config <<END
[plain]
command = $helpers/signal-log $dir/plain
[other]
command = $helpers/signal-log $dir/other
reload-signal = SIGUSR2
[asked]
command = $helpers/signal-log $dir/asked
reload-command = sh -c 'kill -USR1 \$MAINPID'
reload-command = sh -c 'echo >$dir/second; read _ <$dir/fifo'
[deaf]
command = sleep 1000
[deaf-to-other]
command = sleep 1000
reload-signal = SIGUSR1
[failing]
command = $helpers/signal-log $dir/failing
reload-command = sh -c 'exit 4'
[hung]
command = $helpers/signal-log $dir/hung
reload-command = sleep 1000
start-timeout = 300ms
END
mkfifo "$dir/fifo"
start_daemon
ok "all becomes ready" ctl wait --for ready --timeout 60s
for name in plain other asked; do
	wait_for 5 says "$dir/$name" ready || die "$name is there"
done

ok "a reload is done" ctl reload plain
ok "by SIGHUP" wait_for 5 says "$dir/plain" '^HUP$'
ok "another is done" ctl reload other
ok "by the signal it asks for" wait_for 5 says "$dir/other" '^USR2$'
ok "and no other" not says "$dir/other" HUP

for name in deaf deaf-to-other; do
	pid=$(pid_of $name)
	is "a process without a handler gets none" \
		"$(ctl reload $name 2>&1 | grep -o 'the reload-signal would end its main process')" \
		'the reload-signal would end its main process'
	is "and goes on" "$(pid_of $name) $(state $name)" "$pid up"
done

ok "a service is reloaded by commands" ctl reload asked
ok "which know the main process" wait_for 5 says "$dir/asked" '^USR1$'
ok "and run one after the other" wait_for 5 test -e "$dir/second"
is "the service is up meanwhile" "$(state asked)" up
ok "a second reload meanwhile is refused" not ctl reload asked
echo >"$dir/fifo"
ok "the end is logged" wait_for 5 says "$log" 'asked: reloaded'

ctl reload failing >/dev/null 2>&1
ok "so is a failure" wait_for 5 says "$log" 'failing: reload-command exited with status 4'
is "which changes nothing" "$(state failing)" up
ctl reload hung >/dev/null 2>&1
ok "a reload-command that hangs is killed" wait_for 5 says "$log" 'hung: killing reload-command'
is "which changes nothing either" "$(state hung)" up

ctl reload asked >/dev/null 2>&1
ok "a service is stopped in the middle of one" ctl stop asked --timeout 60s
is "not by force" "$(field asked .forced)" false
ok "a service that is down cannot be reloaded" not ctl reload asked
stop_daemon
ok "nothing is left" wait_for 10 nobody_else
finish
