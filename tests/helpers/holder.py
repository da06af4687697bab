#!/usr/bin/python3
"""holder: holds guards, in every way and badly, as it is told.

usage: holder.py FIFO [SOCKET]

Each line of FIFO is a command; CONNECTION and NAME are the caller's to choose:

    open CONNECTION        connects to SOCKET
    given CONNECTION       the connection of SWANSONG_CONTROL
    say CONNECTION JSON    sends a message
    hear CONNECTION        writes what comes next
    ask CONNECTION JSON    both
    quiet CONNECTION       writes whether nothing has come
    end CONNECTION         waits for the end of the connection
    many CONNECTION N      takes N guards, and writes how many were refused and why
    copy CONNECTION        a child has it too; writes its pid
    close CONNECTION       closes it
    hide CONNECTION        leaves it to a socket that nobody but that socket has
    guard NAME KIND [TEXT] sends X_SWANSONG_GUARD=NAME with pipe, socket, file, dgram, two or none,
                           and TEXT, a newline for each |; NAME - is an empty one
    drop NAME              closes the other end
    keep NAME              a child has the other end too; writes its pid
    bury NAME              leaves it to a socket that nobody but that socket has
    lost NAME              waits until the daemon has closed its end
    patient                is not moved by SIGTERM any more
    exit N                 ends
"""

import array
import json
import os
import select
import signal
import socket
import sys

connections = {}
ends = {}
waiting = {}


def log(text):
    print("holder: " + text, flush=True)


def open_(name):
    connections[name] = socket.socket(socket.AF_UNIX)
    connections[name].connect(sys.argv[2])
    waiting[name] = b""


def given(name):
    connections[name] = socket.socket(fileno=os.dup(int(os.environ["SWANSONG_CONTROL"])))
    os.close(int(os.environ["SWANSONG_CONTROL"]))
    waiting[name] = b""


def say(name, *text):
    try:
        connections[name].sendall(" ".join(text).encode() + b"\0")
    except OSError as e:
        log("%s: %s" % (name, e))


def next_reply(name):
    while b"\0" not in waiting[name]:
        try:
            data = connections[name].recv(65536)
        except ConnectionResetError:
            data = b""
        if not data:
            return None
        waiting[name] += data
    reply, _, waiting[name] = waiting[name].partition(b"\0")
    return json.loads(reply)


def hear(name):
    log("%s: %s" % (name, json.dumps(next_reply(name), separators=(",", ":"))))


def ask(name, *text):
    say(name, *text)
    hear(name)


def quiet(name):
    readable = select.select([connections[name]], [], [], 0)[0]
    log("%s: %s" % (name, "something" if readable or waiting[name] else "nothing"))


def end(name):
    while next_reply(name) is not None:
        pass
    log("%s: end" % name)


def many(name, n):
    call = b'{"method":"io.swansong.TakeGuard","parameters":{"node":"web","why":"many"}}\0'
    refused, reason = 0, ""
    for _ in range(int(n)):
        connections[name].sendall(call)
        reply = next_reply(name)
        if reply is None:
            reason = "the connection was closed"
            break
        if "error" in reply:
            refused += 1
            reason = reply["error"] + " " + reply["parameters"].get("reason", "")
    log("%s: refused %d: %s" % (name, refused, reason))


def child():
    pid = os.fork()
    if pid == 0:
        while True:
            signal.pause()
    log("child %d" % pid)


def copy(name):
    child()


def close(name):
    connections.pop(name).close()


def leave_to_itself(fd):
    a, b = socket.socketpair()
    fds = array.array("i", [fd, b.fileno()])
    a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
    a.close()
    b.close()


def hide(name):
    leave_to_itself(connections[name].fileno())
    close(name)


def guard(name, kind, *more):
    said = "" if name == "-" else name.replace("_", " ")
    text = "X_SWANSONG_GUARD=" + said + "".join("\n" + m for m in more)
    kept, sent = [], []
    if kind == "pipe" or kind == "two":
        ours, theirs = os.pipe()
        sent, kept = [ours], [theirs]
        if kind == "two":
            sent.append(os.dup(ours))
    elif kind == "socket" or kind == "dgram":
        pair = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_STREAM if kind == "socket" else socket.SOCK_DGRAM
        )
        sent, kept = [pair[0].detach()], [pair[1].detach()]
    elif kind == "file":
        sent = [os.memfd_create("file")]
    link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    path = os.environ["NOTIFY_SOCKET"]
    link.connect("\0" + path[1:] if path[0] == "@" else path)
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", sent))] if sent else []
    link.sendmsg([text.replace("|", "\n").encode()], control)
    # All that was said before this has been followed when it is closed.
    ours, theirs = os.pipe()
    link.sendmsg([b"BARRIER=1"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs]))])
    for fd in sent + [theirs]:
        os.close(fd)
    os.read(ours, 1)
    os.close(ours)
    if kept:
        ends[name] = kept[0]


def drop(name):
    os.close(ends.pop(name))


def keep(name):
    child()
    drop(name)


def bury(name):
    leave_to_itself(ends[name])
    drop(name)


def lost(name):
    poll = select.poll()
    poll.register(ends[name], 0)
    poll.poll()
    log("%s: lost" % name)


def patient():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


verbs = {
    f.__name__.rstrip("_"): f
    for f in (open_, given, say, hear, ask, quiet, end, many, copy, close, hide, guard, drop)
    + (keep, bury, lost, patient)
}
verbs["exit"] = lambda n: os._exit(int(n))

log("begins")
commands = os.open(sys.argv[1], os.O_RDWR | os.O_CLOEXEC)
while True:
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(commands, 1)
    words = line.decode().split()
    verbs[words[0]](*words[1:])
    log("did " + line.decode().strip())
