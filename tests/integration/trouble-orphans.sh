#!/bin/bash
# Ten thousand orphans at once: all are reaped, none counts for a service, and requests are answered.
. "${0%/*}/lib.sh"

n=10000
[ "$(cat /proc/sys/kernel/pid_max)" -gt $((n + 5000)) ] || skip_all "machine: has too few pids"
mkfifo "$dir/go"
config <<END
[many]
command = $helpers/orphans $n
restart = never
[later]
command = sh -c 'read go <$dir/go; exec $helpers/orphans $n'
restart = never
autostart = no
[left]
command = $helpers/orphans 500 600000
restart = never
stop-timeout = 20s
autostart = no
[other]
command = $helpers/idle
[plain]
command = $helpers/crasher 3
restart = never
autostart = no
END
no_zombies() { ps -e -o stat= | awk '/^Z/ { n++ } END { exit n > 0 }'; }
: >"$log"

# As they come: each is born and dead at once.
"$swansongd" -c "$ini" --socket "$socket" >>"$log" 2>&1 </dev/null &
daemon=$!
cleanup_fn end_process "$daemon"
wait_for 10 ctl_answers || die "swansongd answers"
ok "the maker of the orphans ends" wait_for 120 has_state many 'done'
ok "none of the dead stays" wait_for 30 no_zombies
ok "status is answered" ctl status --timeout 60s

# All at once: while the daemon stands still, no process reaps them.
before=$(field other .service.pid)
ctl start later >/dev/null
maker=$(pid_of later)
kill -STOP "$daemon"
wait_for 10 is_stopped "$daemon"
echo >"$dir/go"
born() { ps -e -o stat= | awk -v want="$1" '/^Z/ { n++ } END { exit n < want }'; }
wait_for 200 is_zombie_or_gone "$maker" # to count them meanwhile would take longer than to make them
ok "ten thousand dead are there" wait_for 20 born $n
ctl start plain --no-wait >/dev/null 2>&1 & # a request that waits among them
kill -CONT "$daemon"
ok "status is answered meanwhile" ctl status --timeout 60s
ok "the parent of the orphans is known to have ended well" wait_for 60 has_state later 'done'
ok "a service that exits now has its own status" wait_for 60 has_state plain failed
is "and no other" "$(field plain .service.result)" 'exited with status 3'
ok "none of the dead stays" wait_for 60 no_zombies
is "the others are as they were" "$(pid_of other)" "$before"
wait $!

# Living orphans stay with their service, and are ended with it.
ctl start left --no-wait >/dev/null
leftovers() { [ "$(field left .guards)" -ge "$1" ]; }
ok "five hundred living orphans are remaining processes" wait_for 60 has_state left 'done'
ok "none of them is there when it is over" not pgrep -x orphans
stop_daemon 60
is "and the end is as ever" "$status" 0
ok "nothing is left" wait_for 20 nobody_else
finish
