#!/usr/bin/env python3
"""A journald for tests: fake-journal.py SOCKET FILE

Takes streams at SOCKET, and appends to FILE a line "STREAM-NUMBER: LINE" for each line of each.
"""
import selectors
import socket
import sys

path, out = sys.argv[1], open(sys.argv[2], "a", buffering=1)
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(path)
listener.listen()
selector = selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ)
streams, count = {}, 0
while True:
    for key, _ in selector.select():
        if key.fileobj is listener:
            stream, _ = listener.accept()
            count += 1
            streams[stream] = [count, b""]
            selector.register(stream, selectors.EVENT_READ)
            continue
        stream = key.fileobj
        data = stream.recv(65536)
        number, rest = streams[stream]
        *lines, rest = (rest + data).split(b"\n")
        streams[stream][1] = rest
        for line in lines:
            out.write(f"{number}: {line.decode()}\n")
        if not data:
            selector.unregister(stream)
            del streams[stream]
