"""A server of HTTP that answers as a file says, anew for each request.

usage: http-server.py ADDRESS PORT FILE

The first word of FILE: a status ("200"), or garbage, nothing (it takes the request, and stays silent),
huge (a status and 10 MB), split (a byte at a time), closed (no answer), endless (no end of a line).
Each request is a line on standard output: its own first one, and the Host.
"""

import socket
import sys
import threading

held = []


def answer(link, how):
    if how == "garbage":
        link.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    elif how == "huge":
        link.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 10_000_000)
    elif how == "split":
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"HTTP/1.0 302 Found\r\n\r\n":
            link.sendall(bytes([byte]))
    elif how == "endless":
        link.sendall(b"HTTP/1.1 " * 1000)
    elif how != "closed":
        link.sendall(b"HTTP/1.1 %s x\r\nContent-Length: 0\r\n\r\n" % how.encode())


def serve(link):
    try:
        lines = link.recv(4096).decode().split("\r\n")
        with open(sys.argv[3]) as file:
            how = file.read().split()[0]
        print(lines[0], next(line for line in lines if line.startswith("Host:")), flush=True)
        if how == "nothing":
            held.append(link)
            return
        answer(link, how)
    except (OSError, IndexError):
        pass  # the client may close early, and the file may just be written
    link.close()


family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
server = socket.create_server((sys.argv[1], int(sys.argv[2])), family=family, backlog=64)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
