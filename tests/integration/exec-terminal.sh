#!/bin/bash
# A service has the daemon's terminal, keeps it over a restart, and the daemon gets it back.
. "${0%/*}/lib.sh"
requires_package python3 python3

cat >"$dir/terminal.py" <<'END'
"""Runs a command on a terminal of its own, types what comes through a FIFO, and keeps what is shown.

terminal.py FIFO SHOWN COMMAND...
"""
import os, pty, select, sys
fifo, shown = sys.argv[1], open(sys.argv[2], "ab", buffering=0)
pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[3], sys.argv[3:])
typed = os.open(fifo, os.O_RDWR)
while True:
    for fd in select.select([master, typed], [], [])[0]:
        try:
            data = os.read(fd, 4096)
        except OSError: # the terminal is closed
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        if fd == master:
            shown.write(data)
        else:
            os.write(master, data)
END
mkfifo "$dir/keys"
config <<END
[console]
command = sh -c 'echo "here I am"; while read -r line; do echo "read \$line"; done'
terminal = yes
log = null
restart = always
restart-delay = 0
[other]
command = sh -c 'exec $helpers/idle'
END
launch python3 "$dir/terminal.py" "$dir/keys" "$dir/shown" \
	"$swansongd" -v -c "$ini" --socket "$socket"
wait_for 10 has_state console up || die "the service is up"
exec 8<>"$dir/keys"
foreground() { ps -o tpgid= -p "$(pid_of console)" | tr -d ' '; }
is_in_front() { [ "$(foreground)" = "$(pid_of console)" ]; }
ok "it is in front of the terminal" is_in_front
ok "the output is on the terminal with any value of log" wait_for 10 says "$dir/shown" "^here I am"
echo hello >&8
ok "typed input is read" wait_for 10 says "$dir/shown" "^read hello"
first=$(pid_of console)
printf '\003' >&8
has_restarted() { [ "$(pid_of console)" != "$first" ] && has_state console up; }
ok "a key's signal ends it, and it is started again" wait_for 10 has_restarted
ok "in front again" wait_for 10 is_in_front
echo again >&8
ok "and reads" wait_for 10 says "$dir/shown" "^read again"
is "no other service gets the signal" "$(state other)" up
ctl stop console >/dev/null
wait_for 10 has_state console down || die "it can be stopped"
printf '\003' >&8
await_daemon 10
ok "then the daemon has the terminal: the key shuts it down" says "$dir/shown" "shutting down: SIGINT"
is "gracefully" "$status" 0

config <<END
[console]
command = cat
terminal = yes
restart = never
END
start_daemon
wait_for 10 has_state console failed || die "without a terminal it fails"
ok "and logs the reason" says "$log" "console: cannot start: take the terminal: Inappropriate ioctl"
stop_daemon
finish
