#!/bin/bash
# The commands around a service: their order, their environment, and their failures.
. "${0%/*}/lib.sh"

trace=$dir/trace
: >"$trace"
# Writes its name and its environment to the trace; with a FIFO block-NAME it stays until that is written to,
# and with a file fail-NAME it fails.
cat >"$dir/hook" <<-'END'
	#!/bin/sh
	dir=${0%/*}
	[ -z "$2" ] || trap '' TERM
	echo "$1 ${SERVICE_RESULT:--} ${EXIT_CODE:--} ${EXIT_STATUS:--}" >>"$dir/trace"
	[ ! -p "$dir/block-$1" ] || read -r _ <"$dir/block-$1"
	[ ! -e "$dir/fail-$1" ]
END
chmod +x "$dir/hook"

traced() { # NAME...: the names in the trace are these
	[ "$(awk '{ printf "%s%s", sep, $1; sep = " " }' "$trace")" = "$*" ]
}

told() { grep -m1 "^$1 " "$trace" | cut -d ' ' -f 2-; } # NAME
start() { ctl start "$1" --no-wait >/dev/null; } # NODE
block() { mkfifo "$dir/block-$1"; }                     # NAME
unblock() { rm -f "$dir/block-$1"; }                    # NAME
bring_down() { ctl stop "$1" >/dev/null && : >"$trace"; }          # NODE

config <<END
[swansong]
stop-timeout = 5s
exit-on-signal = 128+n
[web]
command = $helpers/signal-log $dir/signals
start-command = $dir/hook prepare-1
start-command = $dir/hook prepare-2
post-start = sh -c 'echo "\$MAINPID \$SWANSONG_NODE" >$dir/mainpid'
post-start = $dir/hook post-start
post-stop = $dir/hook post-stop-1
post-stop = $dir/hook post-stop-2
restart-delay = 0
[client]
command = $dir/hook client
requires = web
type = oneshot
[crash]
command = sh -c 'echo crash >>$trace; kill -SEGV \$\$'
post-stop = $dir/hook crash-post-stop
restart = never
autostart = no
[status]
command = sh -c 'exit 3'
post-stop = $dir/hook status-post-stop
restart = never
autostart = no
[unready]
command = sleep 1000
ready = fd:3
start-timeout = 300ms
start-command = $dir/hook unready-prepare
post-stop = $dir/hook unready-post-stop
restart = never
autostart = no
[missing]
command = $helpers/idle
start-command = /nonexistent/program
post-stop = $dir/hook missing-post-stop
restart = never
autostart = no
[hung]
command = $helpers/idle
stop-timeout = 300ms
post-stop = $dir/hook hung deaf
autostart = no
[job]
command = $dir/hook job
type = oneshot
post-start = $dir/hook job-post-start
post-stop = $dir/hook job-undo
autostart = no
[asked]
command = $helpers/signal-log $dir/asked
stop-command = sh -c 'kill -USR1 \$MAINPID; kill -TERM \$MAINPID'
autostart = no
[mute]
command = $helpers/signal-log $dir/mute
stop-command = $dir/hook ask
autostart = no
[slow]
command = $helpers/signal-log $dir/slow
stop-command = $dir/hook ask
stop-timeout = 300ms
autostart = no
[unasked]
command = $helpers/signal-log $dir/unasked
ready = fd:3
stop-command = $dir/hook ask
autostart = no
[mount]
command = $dir/hook mounted
type = oneshot
stop-command = $dir/hook unmount
autostart = no
[drain]
command = $helpers/signal-log $dir/drain
drain-delay = 1h
autostart = no
[brief]
command = $helpers/idle
drain-delay = 100ms
autostart = no
[asleep]
command = $helpers/idle
autostart = no
[group/idler]
command = $helpers/idle
autostart = no
[needy]
command = $helpers/idle
requires = asleep group
autostart = no
[litter]
command = $helpers/idle
start-command = sh -c 'sleep 1000 & echo \$! >$dir/litter'
post-stop = sh -c 'setsid sleep 1000 & echo \$! >$dir/litter-2'
autostart = no
END
start_daemon

ok "all becomes ready" ctl wait web --for ready --timeout 60s
ok "the commands run in order, and the dependent after them" \
	wait_for 5 traced prepare-1 prepare-2 post-start client
is "post-start knows the main process" "$(cat "$dir/mainpid")" "$(pid_of web) web"

ok "a stop works" ctl stop web
ok "the post-stops follow it" \
	traced prepare-1 prepare-2 post-start client post-stop-1 post-stop-2
is "an end as asked for is a success" "$(told post-stop-1)" "success killed TERM"

: >"$trace"
touch "$dir/fail-post-stop-1" "$dir/fail-prepare-2"
ok "a failing start-command fails the start" not ctl start web --timeout 10s
like "the failure names the key" "$(field web .service.result)" 'start-command exited with status 1'
is "no main process was ever there" "$(told post-stop-1)" "exit-code - -"
ok "the command was not run, and every post-stop was" not says "$trace" post-start
ok "every post-stop runs, though one fails" says "$trace" post-stop-2
rm "$dir"/fail-*
bring_down web

touch "$dir/fail-post-start"
ok "a failing post-start fails the start" not ctl start web --timeout 10s
is "the service was ended" "$(told post-stop-1)" "exit-code killed TERM"
rm "$dir/fail-post-start"
bring_down web

start status
ok "a failure with an exit status" wait_for 5 has_state status failed
is "is in the environment of post-stop" "$(told status-post-stop)" "exit-code exited 3"
ulimit -c 0
start crash
ok "a failure by a crash" wait_for 5 has_state crash failed
like "is in the environment of post-stop" "$(told crash-post-stop)" '(signal killed|core-dump dumped) SEGV'
start unready
ok "a failure by start-timeout" wait_for 5 has_state unready failed
is "is in the environment of post-stop" "$(told unready-post-stop)" "timeout killed TERM"
start missing
ok "a command that is not there fails the start" wait_for 5 has_state missing failed
is "and post-stop gets the result resources" "$(told missing-post-stop)" "resources - -"
like "by name" "$(field missing .service.result)" 'start-command cannot start: execute /nonexistent/program'

# --- commands that hang

block hung
ctl start hung >/dev/null
ok "a stop ends although its post-stop hangs and is deaf" by_force ctl stop hung --timeout 60s
ok "the log names it" says "$log" 'hung: killing post-stop, pid [0-9]+ \(hook\)'
is "the node is marked as forced" "$(field hung .forced)" true
unblock hung

block unready-prepare
start unready
ok "a start-command that hangs is ended by the start-timeout" wait_for 5 has_state unready failed
like "and named" "$(field unready .service.result)" 'start-command was not done within its start-timeout'
unblock unready-prepare

# --- a oneshot that is undone

: >"$trace"
ok "a oneshot with something to undo is ready" ctl start job --timeout 60s
ok "after its post-start" traced job job-post-start
is "and stays up" "$(state job)" up
is "its guard is shown" "$(ctl guards job --json | jq -r '.guards[].kind')" action
ok "a stop undoes it" ctl stop job --timeout 60s
ok "once" traced job job-post-start job-undo
touch "$dir/fail-job-post-start"
ok "a failing post-start fails its start, too" not ctl start job --timeout 10s
ok "and the failure is logged" says "$log" 'job: post-start exited with status 1; failed'
rm "$dir/fail-job-post-start"

# --- processes that the commands leave behind

ctl start litter >/dev/null
litter=$(cat "$dir/litter")
ok "a process that a start-command leaves belongs to the service" \
	wait_for 5 says <(ctl guards litter --json) "\"pid\": ?$litter"
ok "a stop ends" ctl stop litter --timeout 60s
ok "and is ended with it" gone "$litter"
ok "so is a process that the post-stop left" wait_for 5 gone "$(cat "$dir/litter-2")"

# --- the signal that asks it to end

: >"$trace"
: >"$dir/signals"
start asked
ok "a service with a stop-command is up" wait_for 5 has_state asked up
wait_for 10 says "$dir/asked" ready || die "and hears its signal"
ok "it stops" ctl stop asked --timeout 60s
is "asked by the command alone" "$(tr '\n' ' ' <"$dir/asked")" "ready USR1 TERM "
is "not by force" "$(field asked .forced)" false

touch "$dir/fail-ask"
start mute
ok "a service with a stop-command that fails is up" wait_for 5 has_state mute up
wait_for 10 says "$dir/mute" ready || die "and hears its signal"
ok "it stops" ctl stop mute --timeout 60s
is "by the stop signal" "$(tr '\n' ' ' <"$dir/mute")" "ready TERM "
rm "$dir/fail-ask"

block ask
start slow
ok "a service with a stop-command that hangs is up" wait_for 5 has_state slow up
ok "it stops" by_force ctl stop slow --timeout 60s
ok "by force, as the stop-timeout is for both" says "$log" 'slow: killing stop-command'
is "which is remembered" "$(field slow .forced)" true
unblock ask

start unasked
ok "a service that is not up" wait_for 5 has_state unasked starting
: >"$trace"
ok "is stopped" ctl stop unasked --timeout 60s
ok "without being asked" not says "$trace" ask

: >"$trace"
start mount
ok "a oneshot with a stop-command is up" wait_for 5 has_state mount up
ok "it stops" ctl stop mount --timeout 60s
ok "and is undone" traced mounted unmount

start drain
ok "a service with a drain-delay is up" wait_for 5 has_state drain up
pid=$(pid_of drain)
ctl stop drain --no-wait >/dev/null
is "it is stopped, and not signalled" "$(state drain)" draining
ok "nor gone" kill -0 "$pid"
kill -USR1 "$pid" # a signal without a meaning for it
kill -TERM "$pid"
ok "its own end cuts the delay short" ctl wait drain --for complete --timeout 60s
start drain
ok "it is up again" wait_for 5 has_state drain up
ctl stop drain --no-wait >/dev/null
ok "force cuts the delay short" ctl shutdown drain --force --timeout 60s
start brief
ok "a service with a short drain-delay is up" wait_for 5 has_state brief up
ok "is stopped when that is over" ctl stop brief --timeout 60s
ok "and then signalled" in_order 'brief: up -> draining' 'brief: draining -> waiting' 'brief: SIGTERM'

# --- services that do not start by themselves

ok "a start of a service that requires a sleeping one" ctl start needy --timeout 60s
is "wakes it up" "$(state asleep)" up
is "but not the service beside it" "$(state group/idler)" down
ok "the group is ready without the sleeping service" ctl wait group --for ready --timeout 60s

stop_daemon
is "a client that asks for the start gets the signal as its exit status" "$status" 143
ok "nothing is left" wait_for 10 nobody_else
finish
