#!/usr/bin/python3
"""A web application as they are: HTTP in front, redis behind, and patience at the end.

usage: worker.py PORT REDIS-PORT

GET /       counts a visit in redis, answers the count
GET /slow   the same after three seconds, with a body of 100,000 bytes
SIGTERM     stops accepting, finishes what is in flight, ends
"""

import http.server
import signal
import socket
import sys
import threading
import time


def redis(port, *words):
    """One command to redis, in its own protocol; the reply is taken to be a number."""
    request = b"*%d\r\n" % len(words)
    for word in words:
        request += b"$%d\r\n%s\r\n" % (len(word), word.encode())
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request)
        reply = connection.makefile("rb").readline()
    if not reply.startswith(b":"):
        raise RuntimeError(f"redis says {reply!r}")
    return int(reply[1:])


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/slow":
            print("worker: a slow request has begun", flush=True)
            time.sleep(3)
        # After the wait: redis has to be there still.
        body = b"visit %d\n" % redis(self.server.redis_port, "INCR", "visits")
        if self.path == "/slow":
            body = body.ljust(100_000, b".")
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        print(f"worker: answered {self.path}", flush=True)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = False  # server_close() waits for them


def main():
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    server.redis_port = int(sys.argv[2])
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print("worker: ready", flush=True)
    server.serve_forever(poll_interval=0.05)
    server.server_close()
    print("worker: done", flush=True)


main()
