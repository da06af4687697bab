"""Clients of swansong-exporter that a browser is not: exporter-clients.py PORT KIND [ARGUMENT].

crowd NUMBER   so many streams of events, of which each fifth is never read; prints "open", and
               "heard N" when all others have heard that the service db is up again
fill NUMBER PID
               so many streams of events; closes those that are refused while the server, PID, is stopped,
               which reads all of their ends at once, and prints "N refused"
slow           a request with a byte each half second; prints "ended" when the server ends it
stuck          requests for long replies that are not read in time; prints "ended" if the server has ended it
heads NUMBER ADDRESS  so many connections of this address with half a request on each; prints "open" when all were
               open, and "replaced" for each new one in the place of one that the server has ended
logs NUMBER    so many requests for the lines of the service web, again and again; prints "sent"
guess NUMBER   so many actions with wrong tokens; prints the status of each
half TOKEN     half the body of an action; prints "sent", and "ended" when the server ends it
late TOKEN     an action, seven seconds after another request on its connection; prints its status
leave TOKEN    an action, of which the reply is not awaited
rude           half a request, long headers, bytes that are no HTTP; prints what comes of each
"""
import os
import resource
import selectors
import signal
import socket
import sys
import time


# The replies do not fit into the buffers of the sockets, and the exporter ends a connection after ten seconds without
# a byte.
STUCK_REQUESTS = 2000
STUCK_SECONDS = 15


def connect(port, size=None):
    s = socket.socket()
    if size:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
    s.connect(("127.0.0.1", port))
    return s


def request(path, host="localhost"):
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


def crowd(port, number):
    number = int(number)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    events = selectors.DefaultSelector()
    clients = [connect(port, 4096 if i % 5 == 0 else None) for i in range(number)]
    seen = {}
    for i, s in enumerate(clients):
        s.sendall(request("/events"))
        if i % 5:
            seen[s] = b""
            events.register(s, selectors.EVENT_READ)
    begun = set()
    heard = set()
    while len(heard) < len(seen):
        for key, _ in events.select():
            s = key.fileobj
            data = seen[s] + s.recv(65536)
            if b"event: tree" in data:
                begun.add(s)
                if len(begun) == len(seen):
                    print("open", flush=True)
                    begun.add(None)
            if b'"node":"db"' in data and b'"to":"up"' in data[data.find(b'"node":"db"'):]:
                heard.add(s)
            seen[s] = data[-4096:]
    print("heard", len(heard), flush=True)
    time.sleep(1000)


def fill(port, number, pid):
    clients = [connect(port) for _ in range(int(number))]
    for s in clients:
        s.settimeout(60)
        s.sendall(request("/events"))
    refused = [s for s in clients if b" 503 " in s.recv(64)]
    os.kill(int(pid), signal.SIGSTOP)
    for s in refused:
        s.close()
    os.kill(int(pid), signal.SIGCONT)
    print(len(refused), "refused", flush=True)
    time.sleep(1000)


def slow(port):
    s = connect(port)
    s.settimeout(0.5)
    s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
    while True:
        try:
            s.sendall(b"x")
            if not s.recv(1):
                break
        except socket.timeout:
            continue
        except OSError:
            break
    print("ended", flush=True)


def replace_ended(port, number, address, text, printed):
    """So many connections with this text on each, and a new one for each that the server ends."""

    def begin():
        s = socket.socket()
        s.bind((address, 0))
        try:
            s.connect(("127.0.0.1", port))
        except ConnectionRefusedError:
            sys.exit()  # the server has ended
        events.register(s, selectors.EVENT_READ)
        try:
            s.sendall(text)
        except OSError:
            pass  # it has been ended already

    events = selectors.DefaultSelector()
    for _ in range(int(number)):
        begin()
    print(printed, flush=True)
    while True:
        for key, _ in events.select():
            events.unregister(key.fileobj)
            key.fileobj.close()
            begin()
            print("replaced", flush=True)
        time.sleep(0.1)


def heads(port, number, address):
    replace_ended(port, number, address, b"GET / HTTP/1.1\r\n", "open")


def logs(port, number):
    replace_ended(port, number, "127.0.0.1", request("/api/logs?node=web"), "sent")


def stuck(port):
    s = connect(port, 2048)
    s.sendall(request("/metrics") * STUCK_REQUESTS)
    time.sleep(STUCK_SECONDS)
    replies = b""
    try:
        while piece := s.recv(65536):
            replies += piece
    except OSError:
        pass
    if replies.count(b"HTTP/1.1 200") < STUCK_REQUESTS:
        print("ended", flush=True)


ACTION = b'{"action":"stop","node":"web/app"}'


def action(token, size=len(ACTION)):
    return (
        f"POST /api/action HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(ACTION)}\r\n\r\n"
    ).encode() + ACTION[:size]


def guess(port, number):
    for i in range(int(number)):
        s = connect(port)
        s.sendall(action(f"{i:064x}"))
        print(s.recv(12).decode("latin-1")[9:])
        s.close()


def half(port, token):
    s = connect(port)
    s.sendall(action(token, 10))
    print("sent", flush=True)
    try:
        s.recv(1)
    except OSError:
        pass
    print("ended", flush=True)


def late(port, token):
    s = connect(port)
    s.sendall(request("/healthz"))
    s.recv(4096)
    time.sleep(7)  # and the daemon is waited for for ten: more than the fifteen of a visit
    s.sendall(action(token))
    print(s.recv(12).decode("latin-1")[9:] or "none", flush=True)


def leave(port, token):
    s = connect(port)
    s.sendall(action(token))
    s.close()


def rude(port):
    for text in (
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 2000000,
        b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
        bytes(range(256)) * 100,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"GET /%ff%zz/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    ):
        s = connect(port)
        try:
            s.sendall(text)
            s.shutdown(socket.SHUT_WR)
            s.settimeout(60)
            print(s.recv(12).decode("latin-1"))
        except OSError as e:
            print(type(e).__name__)
        s.close()


port, kind = int(sys.argv[1]), sys.argv[2]
globals()[kind](port, *sys.argv[3:])
