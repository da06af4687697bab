#!/bin/bash
# Faults of the daemon beside services that it hears: their output goes on, and so does what a service has announced of
# itself.  A start that waits for a line begins again.
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"

config <<END
[watched]
command = sh -c 'i=0; while i=\$((i + 1)); do echo \$i; [ \$i != 20 ] || echo ready; sleep 0.01; done'
ready = log:^ready\$
log = file:$dir/watched
[plain]
command = sh -c 'echo ready; i=0; while i=\$((i + 1)); do echo \$i; sleep 0.01; done'
ready = log:^ready\$
stdout = file:$dir/plain
[late]
command = sh -c 'echo begun >>$dir/begun; read -r x <$dir/gate; echo now; exec $helpers/idle'
ready = log:^now\$
log = null
autostart = no
[slow]
command = $helpers/notifier $dir/fifo
ready = notify
watchdog = 1s
END
mkfifo "$dir/fifo" "$dir/gate"
exec 9<>"$dir/fifo"
pids() { for node in watched plain slow; do pid_of $node; done | xargs; }
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE NUMBER
has_all() { grep -v ready "$1" | awk '$1 != NR { exit 1 }'; } # FILE

reloads() { [ "$(field slow .service.reloading_usec)" != null ]; }
announced() { [ "$(field slow .service.status)" = "42 of 100 done" ] && reloads; }

start_daemon
printf 'WATCHDOG_USEC=60000000\nREADY=1\nSTATUS=42 of 100 done\nERRNO=5\n' >&9
ok "all are up" ctl wait --for ready --timeout 60s
printf 'RELOADING=1\nMONOTONIC_USEC=%s\n' "$(awk '{ printf "%d", $1 * 1000000 }' /proc/uptime)" >&9
ok "a service reloads" wait_for 10 reloads
ok "another one starts" ctl start --no-wait late
begins() { has_lines "$dir/begun" "$1" && has_state late starting; } # TIMES
ok "and waits for its line" wait_for 10 begins 1
old=$(pids)
for n in 1 2 3; do
	kill -SEGV "$daemon"
	ok "fault $n" wait_for 10 has_faults "$n"
	ok "the daemon answers" wait_for 10 ctl_answers
	ok "the text of a service is shown, and its reload" announced
	ok "the service that waits begins again" wait_for 20 begins $((n + 1))
	for file in watched plain; do
		now=$(wc -l <"$dir/$file")
		ok "$file: its output goes on" wait_for 10 has_lines "$dir/$file" $((now + 20))
	done
done
# Longer than the interval that is configured.
now=$(wc -l <"$dir/plain")
ok "time passes" wait_for 30 has_lines "$dir/plain" $((now + 150))
is "no service was touched" "$(pids)" "$old"
ok "no line is lost" has_all "$dir/watched"
ok "nor of one without the logger" has_all "$dir/plain"
logger=$(pgrep -P "$daemon" swansong-logger)
kill -KILL "$logger"
echo >"$dir/gate"
ok "the line of a start comes by the next logger" wait_for 10 has_state late up
ok "which runs" not is_zombie_or_gone "$(pgrep -P "$daemon" swansong-logger)"
stop_daemon
is "the daemon ends as ever" "$status" 0
finish
