#!/bin/bash
# Orphans die without a pause, and faster than they are reaped: a service that stops beside them ends, and so
# do the processes that a stopped or dead service has left behind.
. "${0%/*}/lib.sh"
requires_root

# To reap a zombie Linux goes through the living children, which makes it slower than a fork.
crowd=3000
[ "$(cat /proc/sys/kernel/pid_max)" -gt $((crowd + 5000)) ] || skip_all "machine: has too few pids"
# Of a user of its own, so that its limit bounds the number of zombies.
user=54323
config <<END
[crowd]
command = sh -c '$helpers/orphans $crowd 600000; echo >$dir/crowd; exec $helpers/idle'
[flood]
command = sh -c 'for i in 1 2 3; do $helpers/flood 250 & done; wait'
user = $user
group = $user
limit-nproc = 2000
autostart = no
[left]
command = $helpers/forker --setsid $dir/left
stop-timeout = 1s
[died]
command = $helpers/forker --setsid $dir/died
stop-timeout = 1s
restart = never
[plain]
command = $helpers/idle
END
start_daemon
all_there() { [ -e "$dir/crowd" ] && [ -s "$dir/left" ] && [ -s "$dir/died" ]; }
ok "the living orphans are there" wait_for 60 all_there
dead() { ps -e -o stat= | awk '/^Z/ { n++ } END { exit n < 1000 }'; }
ok "the flood begins" ctl start flood
flood=$(pid_of flood)
wait_for 30 dead || {
	skip "more die than are collected" "machine: collects them as quickly as they come"
	finish
}

ok "a service that leaves a process behind can be stopped" by_force ctl stop left --timeout 90s
ok "and its process is killed" gone "$(cat "$dir/left")"
kill -KILL "$(pid_of died)"
ok "a service that dies is known to have failed" wait_for 90 has_state died failed
ok "and its remaining process is ended, too" gone "$(cat "$dir/died")"
ok "a service that leaves no process can be stopped" ctl stop plain --timeout 60s
ok "status is answered" ctl status --timeout 60s
ok "all that while the flood goes on" wait_for 30 dead
is "without an end" "$(pid_of flood)" "$flood"

stop_daemon 60
is "the end is as ever" "$status" 0
ok "nothing is left" wait_for 20 nobody_else
finish
