#!/bin/bash
# A file system that hangs with a log file on it: the daemon never opens that file, and only the lines for it
# wait.
. "${0%/*}/lib.sh"
requires_package python3 python3

mkdir "$dir/hung"
mkfifo "$dir/lines"
python3 "$top_srcdir/tests/helpers/hanging-mount.py" "$dir/hung" 2>"$dir/why" &
mounting=$!
cleanup_fn end_process "$mounting"
is_mounted() { grep -q " $dir/hung " /proc/self/mountinfo || gone "$mounting"; }
wait_for 10 is_mounted || die "the file system is mounted"
! gone "$mounting" || skip_all "machine: refuses a FUSE mount: $(tail -n 1 "$dir/why")"

config <<END
[quiet]
command = $helpers/idle
log = file:$dir/hung/quiet
[loud]
command = sh -c 'seq 1 1000; exec $helpers/idle'
log = file:$dir/hung/made/loud
stop-timeout = 3s
[other]
command = sh -c 'while read -r line; do echo "\$line"; done <>$dir/lines'
log = file:$dir/other
END
start_daemon
ok "services start whose log hangs" wait_for 10 has_state loud up
ok "also one that writes nothing" wait_for 10 has_state quiet up
echo one >"$dir/lines"
ok "the lines of another service are written" wait_for 10 says "$dir/other" '^one$'
ok "the daemon answers" ctl status

ok "a stop does not wait for what hangs, if there is no line" ctl stop quiet --timeout 5s
ok "else for the stop-timeout" ctl stop loud --timeout 5s
ok "which the log says" says "$log" "loud: log: the last 3893 bytes are not in $dir/hung/made/loud"
stop_daemon 20
is "the end is graceful" "$status" 0
no_logger() { ! pgrep -x swansong-logger >"$dir/loggers"; }
ok "no logger is left" wait_for 30 no_logger
end_process "$mounting"
umount "$dir/hung"
finish
