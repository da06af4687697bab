#!/bin/bash
# A process that is stopped, as by SIGSTOP, hears no SIGTERM: it is continued, and killed if that does
# not help.
. "${0%/*}/lib.sh"

config <<END
[polite]
command = $helpers/signal-log $dir/polite
[deaf]
command = $helpers/stubborn $dir/deaf
stop-timeout = 1s
[left]
command = $helpers/forker --setsid $dir/left
stop-timeout = 1s
[hook]
command = $helpers/idle
start-command = sh -c 'echo \$\$ >$dir/hook; exec sleep 1000'
autostart = no
[asked]
command = $helpers/idle
stop-command = sh -c 'echo \$\$ >$dir/asked; kill -STOP \$\$'
stop-timeout = 1s
[cleaned]
command = $helpers/idle
post-stop = sh -c 'kill -STOP \$\$'
stop-timeout = 1s
[again]
command = $helpers/idle
restart-delay = 0
END
start_daemon
freeze() { # PID
	kill -STOP "$1"
	wait_for 5 is_stopped "$1" || die "$1 is stopped"
}
all_up() {
	[ -s "$dir/polite" ] && [ -s "$dir/deaf" ] && [ -s "$dir/left" ]
}

ok "all is there" wait_for 10 all_up
ctl start hook --no-wait >/dev/null
wait_for 10 test -s "$dir/hook" || die "the start-command runs"
for pid in $(pid_of polite) $(pid_of deaf) $(pid_of left) $(cat "$dir/left") $(cat "$dir/hook") \
	$(pid_of asked); do
	freeze "$pid"
done
is "a suspended service still counts as up" "$(state polite)" up

ok "a suspended service can be stopped" ctl stop polite --timeout 60s
is "not by force" "$(field polite .forced)" false
is "it got its signal" "$(grep -c TERM "$dir/polite")" 1
ok "a suspended service that ignores SIGTERM can be stopped" by_force ctl stop deaf --timeout 60s
is "by force" "$(field deaf .forced)" true
ok "so can a suspended remaining process" by_force ctl stop left --timeout 60s
is "by force" "$(field left .forced)" true
ok "a command that starts it is continued" ctl stop hook --timeout 60s
is "and its stop is not forced" "$(field hook .forced)" false
ok "a stop-command that suspends itself is killed" by_force ctl stop asked --timeout 60s
is "by force" "$(field asked .forced)" true
ok "it is named" says "$log" 'asked: killing stop-command'
ok "a post-stop that suspends itself is killed" by_force ctl stop cleaned --timeout 60s
ok "it is named" says "$log" 'cleaned: killing post-stop'

freeze "$(pid_of again)"
kill -KILL "$(pid_of again)"
ok "a stopped one that is killed is started again" wait_for 10 says "$log" 'again: killed by SIGKILL'
ok "and is up" wait_for 10 has_state again up
ok "a restart of a stopped one is done" ctl restart again --timeout 60s

# The daemon itself is stopped during the events that it has to process.
main=$(pid_of again)
kill -STOP "$daemon"
wait_for 5 is_stopped "$daemon"
kill -KILL "$main"
kill -TERM "$daemon"
kill -CONT "$daemon"
await_daemon 20
is "a daemon that was stopped ends when it is continued" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
finish
