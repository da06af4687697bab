#!/usr/bin/python3
"""A client that does not behave.

usage: rude-client.py SOCKET garbage|half|endless|deaf|crowd

garbage  random bytes, many of them NUL
half     the first half of a message, then silence until killed
endless  10 MB without an end
deaf     one request after the other, reads no reply, until the daemon hangs up
crowd    hundreds of connections that say nothing, until killed

Prints "done" when it has done it; a daemon that hangs up is fine.
"""

import os
import signal
import socket
import sys

REQUEST = b'{"method":"org.varlink.service.GetInfo"}\0'


def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(5)
    s.connect(sys.argv[1])
    return s


def garbage(s):
    for _ in range(100):
        s.sendall(os.urandom(1000))


def half(s):
    s.sendall(REQUEST[: len(REQUEST) // 2])


def endless(s):
    for _ in range(10):
        s.sendall(b"{" * 1_000_000)


def deaf(s):
    for _ in range(100_000):
        s.sendall(REQUEST * 100)


def crowd(s):
    global crowded
    crowded = [s]
    for _ in range(500):
        crowded.append(connect())


what = {f.__name__: f for f in (garbage, half, endless, deaf, crowd)}[sys.argv[2]]
connection = connect()
try:
    what(connection)
except OSError as e:
    print(f"{sys.argv[2]}: {e}", flush=True)
print("done", flush=True)
if what in (half, crowd):
    signal.pause()
