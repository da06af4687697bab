#!/usr/bin/env python3
"""A syslogd for tests: fake-syslog.py SOCKET FILE

Appends to FILE each message that comes to SOCKET, a line each.
"""
import socket
import sys

log, out = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), open(sys.argv[2], "a", buffering=1)
log.bind(sys.argv[1])
while True:
    out.write(log.recv(65536).decode() + "\n")
