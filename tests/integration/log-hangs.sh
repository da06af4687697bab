#!/bin/bash
# A file system that hangs with a log file on it: the daemon never opens that file, only the lines for it
# wait, and no client hangs.
. "${0%/*}/lib.sh"
requires_package python3 python3

mount_hanging "$dir/hung"
mkfifo "$dir/lines"

config <<END
[quiet]
command = $helpers/idle
log = file:$dir/hung/quiet
[loud]
command = sh -c 'seq 1 1000; exec $helpers/idle'
log = file:$dir/hung/made/loud
stop-timeout = 20s
[patient]
command = sh -c 'seq 1 1000; exec $helpers/idle'
log = file:$dir/hung/patient
log-full = block
stop-timeout = 3s
[other]
command = sh -c 'while read -r line; do echo "\$line"; done <>$dir/lines'
log = file:$dir/other
END
start_daemon
ok "services with a log that hangs start" wait_for 10 has_state loud up
ok "also one that writes nothing" wait_for 10 has_state quiet up
echo one >"$dir/lines"
ok "the lines of another service are written" wait_for 10 says "$dir/other" '^one$'
ok "the daemon answers" ctl status

# Clients read log files in a child process, which they leave there.
began=$(now)
like "status of its service answers, with the last lines that the logger has" \
	"$(timeout 60 "$swansongctl" status loud)" '1000'
timeout 60 "$swansongctl" logs -n 2000 quiet loud other >"$dir/shown" 2>"$dir/said"
is "logs shows these lines as well, and those of other file systems" "$(sed 's/.* //' "$dir/shown" | sort -n | cksum)" \
	"$({ echo one && seq 1 1000; } | sort -n | cksum)"
is "logs names the files that do not answer, and waits only for the first" "$(sort "$dir/said")" \
	"swansongctl: loud: older lines are not shown: $dir/hung/made/loud: the file system does not answer
swansongctl: quiet: older lines are not shown: $dir/hung/quiet: the file system does not answer"
within "both wait for the first file" $(($(now) - began)) 5000 20000
ok "no client is left" wait_for 10 sh -c '! pgrep -x swansongctl'

ok "a stop without lines does not wait for a log that hangs" ctl stop quiet --timeout 9s
began=$(now)
ok "else for a second" ctl stop loud
within "and not for the stop-timeout" $(($(now) - began)) 900 9000
ok "and the loss is logged" says "$log" "loud: log: the last 3893 bytes are not in $dir/hung/made/loud"
began=$(now)
ctl stop patient --timeout 60s >/dev/null 2>&1 &
stopping=$!
ok "a node with log-full = block waits for its last line" wait_for 10 has_kinds_of_guards patient log
ok "its stop ends" wait "$stopping"
within "after its timeout" $(($(now) - began)) 3000 20000
ok "and that loss is logged" says "$log" "patient: log: the last 3893 bytes are not in $dir/hung/patient"
stop_daemon 20
is "the end is graceful" "$status" 0
is "no loss is logged twice" "$(grep -c 'log: the last' "$log")" 2
no_logger() { ! pgrep -x swansong-logger >"$dir/loggers"; }
ok "no logger is left" wait_for 30 no_logger
end_process "$mounting"
umount "$dir/hung"
finish
