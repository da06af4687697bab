"""shop.py app: takes orders on descriptor 3, by HTTP, into a list of redis.  SIGTERM finishes its requests.
shop.py admin: a page on descriptor 3 with the number of orders in postgres.
shop.py worker: moves orders from redis to postgres until SIGTERM.
shop.py load URL: orders all the time until SIGTERM, then prints answers by version, and what failed.
shop.py until URL TEXT: asks until the answer has the text, for 90 seconds.

The story of the first hour with a package is .ci/packages-hour."""

import collections
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

CLIENTS = 8
stop = threading.Event()


def redis(*words):
    with socket.create_connection(("127.0.0.1", 6379)) as connection:
        connection.sendall(b"".join([b"*%d\r\n" % len(words)] + [b"$%d\r\n%s\r\n" % (len(w), w)
                                                               for w in (str(w).encode() for w in words)]))
        return reply(connection.makefile("rb"))


def reply(stream):
    kind, value = (lambda line: (line[:1], line[1:-2]))(stream.readline())
    if kind == b"$":
        return stream.read(int(value) + 2)[:-2]
    if kind == b"*":
        return [reply(stream) for _ in range(int(value))]
    if kind not in (b":", b"+"):
        raise OSError(value)
    return value


def postgres(text):
    command = ["psql", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1", "shop"]
    return subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout


def order():
    number = int(redis("incr", "last"))
    redis("rpush", "orders", number)
    return f"version {os.environ['VERSION']}"


def count():
    return "orders: " + postgres("select count(*) from orders;")


def serve(page):
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            text = "ready" if self.path == "/ready" else page()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(None, Page, bind_and_activate=False)
    server.socket.close()
    server.socket = socket.socket(fileno=3)
    server.daemon_threads = False
    threading.Thread(target=server.serve_forever, args=[0.05]).start()
    stop.wait()
    server.shutdown()
    server.server_close()  # waits for the requests


def work():
    while not stop.is_set():
        orders = redis("lrange", "orders", 0, 999)
        if orders:
            values = ", ".join(f"({int(o)})" for o in orders)
            postgres(f"insert into orders values {values} on conflict do nothing;")
            redis("ltrim", "orders", len(orders), -1)
        else:
            stop.wait(0.1)


def load(url):
    answers = collections.Counter()
    lock = threading.Lock()

    def client():
        while not stop.is_set():
            try:
                answer = urllib.request.urlopen(url, timeout=30).read().decode()
            except OSError as error:
                answer = f"failed: {error}"
            with lock:
                answers[answer] += 1
                if answers.total() == 100:
                    print("100 answers", flush=True)

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(*(f"{n} {answer}" for answer, n in sorted(answers.items())), sep=", ")


def until(url, text):
    deadline = time.monotonic() + 90
    answer = None
    while answer is None or text not in answer:
        if time.monotonic() > deadline:
            sys.exit(f"{url}: no {text} in {answer}")
        try:
            answer = urllib.request.urlopen(url, timeout=5).read().decode()
        except OSError as error:
            answer = str(error)
        stop.wait(0.1)


# A thread waits for the signal: with a handler another thread may get it, and the main thread goes on waiting.
def stop_on_signal():
    signal.sigwait({signal.SIGTERM})
    stop.set()


signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
threading.Thread(target=stop_on_signal, daemon=True).start()
name, *args = sys.argv[1:]
{"app": lambda: serve(order), "admin": lambda: serve(count), "worker": work, "load": load, "until": until}[name](*args)
