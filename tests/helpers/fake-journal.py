#!/usr/bin/env python3
"""A journald for tests: fake-journal.py DIRECTORY FILE

Takes streams at DIRECTORY/stdout, and appends to FILE a line "STREAM-NUMBER: LINE" for each line of each;
and entries at DIRECTORY/socket, with a line "entry: FIELD=VALUE ..." for each, its fields in order.
"""
import selectors
import socket
import struct
import sys

path, out = sys.argv[1], open(sys.argv[2], "a", buffering=1)
entries = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
entries.bind(path + "/socket")
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(path + "/stdout")
listener.listen()
selector = selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ)
selector.register(entries, selectors.EVENT_READ)
streams, count = {}, 0


def fields(data):
    """FIELD=VALUE and a newline; or FIELD, a newline, the length of the value, it, and a newline."""
    while data:
        line, data = data.split(b"\n", 1)
        name, equals, value = line.partition(b"=")
        if not equals:
            (length,) = struct.unpack("<Q", data[:8])
            value, data = data[8 : 8 + length], data[9 + length :]
        yield f"{name.decode()}={value.decode()}"


while True:
    for key, _ in selector.select():
        if key.fileobj is entries:
            out.write(f"entry: {' '.join(fields(entries.recv(65536)))}\n")
            continue
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
