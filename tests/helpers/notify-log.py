#!/usr/bin/python3
"""notify-log: a supervisor that writes down the messages of sd_notify(3).

usage: notify-log.py SOCKET FILE

Each message is one line of FILE, its lines joined by blanks, after the seconds since the first one.
The socket is there as soon as FILE is.
"""

import socket
import sys
import time

receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
first = None
with open(sys.argv[2], "w", buffering=1) as log:
    while True:
        text = receiver.recv(65536).decode(errors="replace")
        now = time.monotonic()
        first = first or now
        log.write(f"{now - first:.1f} {' '.join(text.splitlines())}\n")
