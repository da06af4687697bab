#!/usr/bin/python3
"""talker: sends messages to its supervisor, by the notify protocol.

usage: talker.py FIFO

Each line of FIFO is a command:

    say TEXT          sends TEXT as one message, a newline for each |
    oversized         sends a message that is too long, with a descriptor
    store NAME [POLL] sends a pipe that hangs up, or with POLL 0 a file, for the store
    held              writes the names and contents of the descriptors that it was given
    barrier           writes "barrier is over" when the supervisor has followed all before
    flood N           sends N messages as fast as they are taken
    main              has a child named the main process, which goes on in its place
    detach            the same for a grandchild of a session of its own, whose parent ends
    orphan SESSION TEXT  has a child without a parent, in a session of its "own" or the "same" one,
                      which writes "orphan PID", stops, and on SIGCONT says TEXT and ends
    name PID          sends PID as that of the main process
    patient           is not moved by SIGTERM any more
    stop              stops until SIGCONT
    exit N            ends
"""

import array
import os
import signal
import socket
import sys
import time

link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
path = os.environ["NOTIFY_SOCKET"]
link.connect("\0" + path[1:] if path[0] == "@" else path)
kept = []


def log(text):
    print("talker: " + text, flush=True)


def say(text, fds=()):
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    link.sendmsg([text.encode()], control)


def store(name, poll="1"):
    if poll == "0":
        fd = os.memfd_create(name)
        os.write(fd, ("kept " + name).encode())
        os.lseek(fd, 0, os.SEEK_SET)
    else:
        fd, other = os.pipe()
        kept.append(other)
    say("FDSTORE=1\nFDNAME=%s\nFDPOLL=%s" % (name, poll), [fd])
    os.close(fd)


def held():
    mine = os.environ.get("LISTEN_PID") == str(os.getpid())
    n = int(os.environ.get("LISTEN_FDS", "0")) if mine else 0
    names = os.environ["LISTEN_FDNAMES"].split(":") if n else []
    what = []
    for i, name in enumerate(names):
        kind = os.readlink("/proc/self/fd/%d" % (3 + i)).split(":")[0]
        if kind.startswith("/memfd"):
            name += "=" + os.pread(3 + i, 100, 0).decode()
        what.append(name)
    log("holds %d: %s" % (n, ", ".join(what)))


def barrier():
    ours, theirs = os.pipe()
    say("BARRIER=1", [theirs])
    os.close(theirs)
    os.read(ours, 1)
    log("barrier is over")


def detach():
    """As a daemon of old does it: only the grandchild stays, and is named before the rest ends."""
    ours, theirs = os.pipe()
    gone, alive = os.pipe()
    if os.fork() == 0:
        if os.fork() != 0:
            os._exit(0)
        os.setsid()
        os.write(theirs, b"%d" % os.getpid())
        os.close(alive)
        os.read(gone, 1)
        return
    pid = int(os.read(ours, 20))
    os.wait()
    say("MAINPID=%d" % pid)
    os._exit(0)


def main():
    if os.fork() == 0:
        say("MAINPID=%d" % os.getpid())
        return
    while True:
        signal.pause()


def orphan(session, text):
    if os.fork() != 0:
        os.wait()
        return
    parent = os.getpid()
    if os.fork() != 0:
        os._exit(0)
    if session == "own":
        os.setsid()
    while os.getppid() == parent:
        time.sleep(0.001)
    log("orphan %d" % os.getpid())
    os.kill(os.getpid(), signal.SIGSTOP)
    say(text)
    os._exit(0)


def obey(words):
    verb, rest = words[0], words[1:]
    if verb == "say":
        say(" ".join(rest).replace("|", "\n"))
    elif verb == "oversized":
        say("STATUS=" + "x" * 5000, [1])
    elif verb == "store":
        store(*rest)
    elif verb == "held":
        held()
    elif verb == "barrier":
        barrier()
    elif verb == "flood":
        for i in range(int(rest[0])):
            say("STATUS=flood %d" % i)
    elif verb == "main":
        main()
    elif verb == "detach":
        detach()
    elif verb == "orphan":
        orphan(rest[0], " ".join(rest[1:]))
    elif verb == "name":
        say("MAINPID=" + rest[0])
    elif verb == "patient":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif verb == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif verb == "exit":
        os._exit(int(rest[0]))


log("begins, %s" % " ".join(sorted(v for v in os.environ if v.startswith("WATCHDOG"))))
commands = os.open(sys.argv[1], os.O_RDWR | os.O_CLOEXEC)
while True:
    # Byte by byte: the following lines are for the process that goes on in our place.
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(commands, 1)
    obey(line.decode().split() or [""])
    log("did " + line.decode().strip())
