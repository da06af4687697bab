"""A service of a node of the fleet, and the load on all nodes.

usage: fleet-web.py serve PORT
       fleet-web.py load ADDRESS RATE

serve: each request takes 0.2 seconds, or N at the path /N; the answer is the name of the node.  At SIGTERM no
connection is accepted any more, and open requests are answered.

load: RATE requests per second, each on a connection of its own, until SIGTERM; then the open ones are waited for.
The last line is JSON: the number sent, the number answered by each node, and of each request that was lost the
time when it was sent, in milliseconds, and the reason.
"""

import collections
import http.client
import http.server
import json
import signal
import socket
import socketserver
import sys
import threading
import time

stop = threading.Event()


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(float(self.path[1:] or 0.2))
        body = socket.gethostname().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = False
    allow_reuse_address = True
    request_queue_size = 128


def serve(port):
    server = Server(("0.0.0.0", port), Page)
    threading.Thread(target=server.serve_forever, args=[0.02]).start()
    stop.wait()
    server.shutdown()
    server.server_close()  # waits for the requests


def load(address, rate):
    answered = collections.Counter()
    lost = []

    def ask():
        sent = time.time()
        try:
            connection = http.client.HTTPConnection(address, timeout=10)
            connection.request("GET", "/")
            answer = connection.getresponse()
            body = answer.read().decode()
            if answer.status != 200:
                raise http.client.HTTPException(f"status {answer.status}")
            answered[body] += 1
        except (OSError, http.client.HTTPException) as error:
            lost.append([int(sent * 1000), repr(error)])

    threads = []
    begin = time.monotonic()
    while not stop.wait(max(0, begin + len(threads) / rate - time.monotonic())):
        threads.append(threading.Thread(target=ask))
        threads[-1].start()
    for thread in threads:
        thread.join()
    print(json.dumps({"sent": len(threads), "answered": answered, "lost": lost}), flush=True)


signal.signal(signal.SIGTERM, lambda *_: stop.set())
if sys.argv[1] == "load":
    load(sys.argv[2], float(sys.argv[3]))
else:
    serve(int(sys.argv[2]))
