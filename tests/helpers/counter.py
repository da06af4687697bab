#!/usr/bin/python3
"""counter: a server of the socket that it was given, which ends after so many connections.

usage: counter.py CONNECTIONS

Each connection is told "PID NAME COUNT".
"""

import os
import socket
import sys

assert os.environ["LISTEN_PID"] == str(os.getpid()), os.environ["LISTEN_PID"]
assert int(os.environ["LISTEN_FDS"]) >= 1
name = os.environ["LISTEN_FDNAMES"].split(":")[0]
listener = socket.socket(fileno=3)
for count in range(int(sys.argv[1])):
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b"%d %s %d\n" % (os.getpid(), name.encode(), count))
sys.exit(1)
