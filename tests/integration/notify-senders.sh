#!/bin/bash
# Without control groups, a message of a process that has died or calls execve(2) counts as its service's.
. "${0%/*}/lib.sh"
hide_cgroups
# shellcheck disable=SC2034  # for what is sourced
own=unheard # nothing shows any more which service it belonged to
. "${0%/*}/senders-lib.sh"

# A process without an environment may send many messages: its descent is not checked for each of them.
cat >"$dir/anonymous" <<'END'
import array, os, socket, sys, time
if len(sys.argv) == 2:
    executed, executes = os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            words = [sys.executable, "-S", *sys.argv, os.environ["NOTIFY_SOCKET"], str(os.getppid())]
            os.execve(sys.executable, words, {})
        os.close(executes)
        os.read(executed, 1)
    os._exit(0)
while os.getppid() == int(sys.argv[3]):
    time.sleep(0.001)
link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
link.connect(sys.argv[2])
for _ in range(400):
    link.send(b"STATUS=believed")
heard, ours = os.pipe()
link.sendmsg([b"BARRIER=1"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [ours]))])
os.close(ours)
os.read(heard, 1)  # the daemon closes the other end when it has read all this
open(sys.argv[1], "w").close()
END
# A main process that stays root, with a child of another user.
cat >"$dir/spread" <<'END'
import os, signal, socket
link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
link.connect(os.environ["NOTIFY_SOCKET"])
if os.fork() == 0:
    os.setresuid(65534, 65534, 65534)
    link.send(b"READY=1\nSTATUS=child")
signal.pause()
END
config <<END
[swansong]
log = inherit
[spread]
command = python3 $dir/spread
ready = notify
notify-access = all
autostart = no
[deaf]
command = python3 $dir/spread
ready = notify
notify-access = main
autostart = no
start-timeout = 2s
restart = never
[quiet]
command = sh -c '/usr/bin/env python3 $dir/anonymous $dir/heard; exec sleep 1000'
notify = yes
END
reads() { sed -n 's/^syscr: //p' "/proc/$daemon/io"; }
start_daemon
ok "a message without a known sender is read" wait_for 30 test -e "$dir/heard"
comment <<<"$(reads) reads"
ok "in few looks" test "$(reads)" -lt 60000
is "and not believed" "$(field quiet .service.status)" null
if is_root; then
	ok "notify-access = all: a process of another user is heard" ctl start spread
	is "by its session" "$(field spread .service.status)" child
	ok "notify-access = main: its message is dropped" not ctl start deaf
	is "and the service is not ready in time" "$(state deaf)" failed
else
	skip "a process of another user" "machine: needs root"
fi
stop_daemon
ok "nothing is left" wait_for 10 nobody_else
finish
