"""web.py serve PORT: a server of HTTP: /slow is answered after 4 seconds; SIGTERM finishes its requests.
web.py load PORT: asks for 20 pages a second until SIGTERM, with a slow one always in flight.
web.py slow PORT: asks for a slow one.
The latter two print "in flight" as soon as a slow request is, and fail if a request fails."""

import http.client
import http.server
import signal
import sys
import threading
import time


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/slow":
            time.sleep(4)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello\n")

    def log_message(self, *_):
        pass


def serve(port, stop):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Page)
    server.daemon_threads = False
    threading.Thread(target=server.serve_forever).start()
    stop.wait()
    server.shutdown()
    server.server_close()  # waits for the requests


class Load:
    def __init__(self, port):
        self.port = port
        self.requests = []
        self.failed = []

    def run(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path)
            if path == "/slow":
                print("in flight", flush=True)
            if connection.getresponse().read() != b"hello\n":
                self.failed.append(f"{path}: cut")
        except (OSError, http.client.HTTPException) as error:
            self.failed.append(f"{path}: {error}")

    def ask(self, path):
        thread = threading.Thread(target=self.run, args=[path])
        thread.start()
        self.requests.append(thread)
        return thread

    def end(self):
        for thread in self.requests:
            thread.join()
        print(len(self.requests), "requests,", len(self.failed), "failed", *self.failed, flush=True)
        sys.exit(1 if self.failed else 0)


def load(port, stop):
    it = Load(port)
    slow = it.ask("/slow")
    while not stop.wait(0.05):
        it.ask("/")
        if not slow.is_alive():
            slow = it.ask("/slow")
    it.end()


def slow(port, stop):
    it = Load(port)
    it.ask("/slow")
    it.end()


stop = threading.Event()


def stop_on_signal():
    signal.sigwait({signal.SIGTERM})
    stop.set()


# A thread waits for the signal: with a handler another thread may get it, and the main thread goes on waiting.
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
threading.Thread(target=stop_on_signal, daemon=True).start()
{"serve": serve, "load": load, "slow": slow}[sys.argv[1]](int(sys.argv[2]), stop)
