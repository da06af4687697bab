#!/usr/bin/python3
"""Tests of contrib/python/swansong.py, whose folder is in $PYTHONPATH, beside a daemon that is none.

Results are TAP.
"""

import asyncio
import concurrent.futures
import contextlib
import fcntl
import json
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import swansong

DEADLINE = 20
PAGE_SIZE = 4096
MAGIC = int.from_bytes(b"swansong", "little")
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


class Page:
    """What a daemon makes for a run of a service."""

    def __init__(self, stop=0, magic=MAGIC, seals=SEALS):
        self.fd = os.memfd_create("page", os.MFD_ALLOW_SEALING)
        os.truncate(self.fd, 2 * PAGE_SIZE)
        os.pwrite(self.fd, struct.pack("=QIII", magic, 1, 1, stop), 0)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, seals)
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(DEADLINE)
        os.environ["SWANSONG_ATTACH"] = f"{os.dup(self.fd)}:{theirs.detach()}"

    def guards(self):
        guards, gathered = struct.unpack("=qI", os.pread(self.fd, 12, 64))
        assert gathered == 1
        return guards

    def holder(self):
        """The process that is attached, as another process sees it; 0 for none."""
        code = """
import fcntl, struct, sys
lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0)
kind, _, _, _, pid = struct.unpack("hhqqi4x", fcntl.fcntl(int(sys.argv[1]), fcntl.F_GETLK, lock))
print(0 if kind == fcntl.F_UNLCK else pid)
"""
        out = subprocess.run(
            [sys.executable, "-c", code, str(self.fd)],
            pass_fds=[self.fd],
            stdout=subprocess.PIPE,
            check=True,
        )
        return int(out.stdout)

    def stop(self):
        os.pwrite(self.fd, struct.pack("=I", 1), 16)
        self.socket.send(b"STOP")


class Daemon:
    """Answers on a control socket as it is told to."""

    def __init__(self, sock, answer):
        self.calls = []
        self.closed = threading.Event()
        self.send = None
        self._answer = answer
        self._listener = sock
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        connection = self._listener
        with contextlib.suppress(OSError):
            connection, _ = self._listener.accept()
        buffer = b""

        def send(reply):
            connection.sendall(json.dumps(reply).encode() + b"\0")

        self.send = send
        while True:
            data = connection.recv(65536)
            if not data:
                break
            buffer += data
            while b"\0" in buffer:
                text, buffer = buffer.split(b"\0", 1)
                call = json.loads(text)
                self.calls.append(call)
                for reply in self._answer(call):
                    send(reply)
        self.closed.set()


def listening(directory):
    path = os.path.join(directory, "control.sock")
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    sock.listen()
    return path, sock


@contextlib.contextmanager
def told():
    """The exceptions that threads complain of."""
    before, complaints = threading.excepthook, []
    threading.excepthook = lambda args: complaints.append(args.exc_type)
    try:
        yield complaints
    finally:
        threading.excepthook = before


def take(call):
    return [{"parameters": {"id": 7}, "continues": call.get("more", False)}]


class LeaseTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        for name in ("SWANSONG_CONTROL", "SWANSONG_SOCKET", "SWANSONG_NODE"):
            os.environ.pop(name, None)
        swansong._private = None

    def test_without_a_daemon_it_holds_nothing_up(self):
        path = os.path.join(self.directory.name, "none")
        with swansong.guard("work", socket=path) as lease:
            self.assertIsNone(lease.id)
        with self.assertRaises(FileNotFoundError):
            swansong.guard("work", socket=path, required=True).take()

    def test_it_is_held_until_the_end_of_the_block(self):
        path, sock = listening(self.directory.name)
        daemon = Daemon(sock, take)
        os.environ["SWANSONG_NODE"] = "web/app"
        with swansong.guard('the "nightly" export', ttl=1.5, late=True, socket=path) as lease:
            self.assertEqual(lease.id, 7)
            self.assertFalse(daemon.closed.is_set())
        self.assertTrue(daemon.closed.wait(DEADLINE))
        self.assertEqual(
            daemon.calls,
            [
                {
                    "method": "io.swansong.TakeGuard",
                    "parameters": {
                        "why": 'the "nightly" export',
                        "late": True,
                        "ttl_usec": 1500000,
                        "node": "web/app",
                    },
                    "more": True,
                }
            ],
        )

    def test_a_stopped_node_refuses_it(self):
        path, sock = listening(self.directory.name)
        Daemon(
            sock,
            lambda call: [{"error": "io.swansong.NodeStopped", "parameters": {"node": "web"}}],
        )
        with self.assertRaisesRegex(swansong.Stopped, "NodeStopped: web"):
            swansong.guard("work", node="web", socket=path).take()

    def test_the_holder_is_told_of_the_stop_and_of_the_loss(self):
        path, sock = listening(self.directory.name)
        stopped = threading.Event()
        daemon = Daemon(sock, take)
        lease = swansong.guard("work", socket=path, on_shutdown=stopped.set).take()
        daemon.send({"parameters": {"id": 7, "stopping": True}, "continues": True})
        self.assertTrue(stopped.wait(DEADLINE))
        self.assertIsNone(lease.lost)
        daemon.send({"parameters": {"id": 7, "lost": "expired"}})
        for thread in threading.enumerate():
            if thread.name == "swansong-lease":
                thread.join(DEADLINE)
        self.assertEqual(lease.lost, "expired")
        lease.release()
        lease.release()

    def test_a_callback_that_fails_loses_nothing(self):
        path, sock = listening(self.directory.name)
        daemon = Daemon(sock, take)
        lease = swansong.guard("work", socket=path, on_shutdown=lambda: 1 // 0)
        with told() as complaints:
            lease.take()
            daemon.send({"parameters": {"id": 7, "stopping": True}, "continues": True})
            daemon.send({"parameters": {"id": 7, "lost": "expired"}})
            for thread in threading.enumerate():
                if thread.name == "swansong-lease":
                    thread.join(DEADLINE)
        self.assertEqual(complaints, [ZeroDivisionError])
        self.assertEqual(lease.lost, "expired")
        lease.release()

    def test_without_a_thread_to_follow_it_none_is_held(self):
        path, sock = listening(self.directory.name)
        daemon = Daemon(sock, take)
        lease = swansong.guard("work", socket=path)
        with unittest.mock.patch.object(swansong.threading, "Thread", side_effect=RuntimeError):
            with self.assertRaises(RuntimeError):
                lease.take()
        self.assertTrue(daemon.closed.wait(DEADLINE))

    def test_a_forked_child_does_not_hold_it_beyond_its_parent(self):
        path, sock = listening(self.directory.name)
        daemon = Daemon(sock, take)
        code = """
import os, swansong, sys
lease = swansong.guard("work", socket=sys.argv[1]).take()
if os.fork() == 0:
    sys.stdin.read()
os._exit(0)
"""
        with subprocess.Popen(
            [sys.executable, "-c", code, path], stdin=subprocess.PIPE
        ) as parent:
            self.assertEqual(parent.wait(DEADLINE), 0)
            self.assertTrue(daemon.closed.wait(DEADLINE))

    def test_many_share_the_private_connection(self):
        ours, theirs = socket.socketpair()
        ids = iter(range(1, 100))

        def answer(call):
            return [{"parameters": {"id": next(ids)} if "TakeGuard" in call["method"] else {}}]

        daemon = Daemon(ours, answer)
        os.environ["SWANSONG_CONTROL"] = str(theirs.detach())
        with swansong.guard("a"), swansong.guard("b") as b:
            self.assertEqual(b.id, 2)
        self.assertNotIn("SWANSONG_CONTROL", os.environ)
        self.assertEqual(
            [(c["method"].split(".")[-1], c["parameters"]) for c in daemon.calls],
            [
                ("TakeGuard", {"why": "a", "late": False}),
                ("TakeGuard", {"why": "b", "late": False}),
                ("Release", {"id": 2}),
                ("Release", {"id": 1}),
            ],
        )
        self.assertFalse(daemon.closed.is_set())
        swansong._private.close()
        swansong._private = None

    def test_a_call_that_a_signal_cuts_short_is_none(self):
        class Cut(Exception):
            pass

        def handle(signo, frame):
            handled.set()
            raise Cut

        ours, theirs = socket.socketpair()
        ids = iter(range(1, 100))
        handled = threading.Event()

        def answer(call):
            method = call["method"].rsplit(".", 1)[-1]
            if call["parameters"].get("why") == "cut":
                signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
                handled.wait(DEADLINE)
            if method == "TakeGuard":
                return [{"parameters": {"id": next(ids)}}]
            return [{"parameters": {"vendor": "Swansong"} if method == "GetInfo" else {}}]

        daemon = Daemon(ours, answer)
        self.addCleanup(signal.signal, signal.SIGUSR1, signal.signal(signal.SIGUSR1, handle))
        os.environ["SWANSONG_CONTROL"] = str(theirs.detach())
        with swansong.guard("a"):
            with self.assertRaises(Cut):
                swansong.guard("cut").take()
            with swansong.guard("b") as b:
                self.assertEqual(b.id, 3)
        released = [c["parameters"]["id"] for c in daemon.calls if "Release" in c["method"]]
        self.assertEqual(released, [2, 3, 1])
        swansong._private.close()
        swansong._private = None

    def test_a_daemon_that_has_gone_ends_nobody(self):
        ours, theirs = socket.socketpair()
        ours.close()
        code = """
import signal, swansong
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
for _ in range(2):
    with swansong.guard("work") as lease:
        print(lease.id)
try:
    swansong.guard("work", required=True).take()
except (BrokenPipeError, ConnectionResetError):
    print("required")
"""
        with theirs:
            out = subprocess.run(
                [sys.executable, "-c", code],
                pass_fds=[theirs.fileno()],
                env={**os.environ, "SWANSONG_CONTROL": str(theirs.fileno())},
                stdout=subprocess.PIPE,
            )
        self.assertEqual(out.returncode, 0)
        self.assertEqual(out.stdout.split(), [b"None", b"None", b"required"])

    def test_it_can_be_awaited(self):
        path, sock = listening(self.directory.name)
        daemon = Daemon(sock, take)

        async def work():
            async with swansong.guard("work", socket=path) as lease:
                return lease.id

        self.assertEqual(asyncio.run(work()), 7)
        self.assertTrue(daemon.closed.wait(DEADLINE))


    def test_whoever_is_cancelled_holds_nothing(self):
        path, sock = listening(self.directory.name)
        asked, answered = threading.Event(), threading.Event()

        def answer(call):
            asked.set()
            answered.wait(DEADLINE)
            return take(call)

        daemon = Daemon(sock, answer)

        async def main():
            loop = asyncio.get_running_loop()
            loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(1))
            entering = asyncio.ensure_future(swansong.guard("work", socket=path).__aenter__())
            while not asked.is_set():
                await asyncio.sleep(0)
            entering.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await entering
            answered.set()
            while not daemon.closed.is_set():
                await asyncio.sleep(0)

        asyncio.run(asyncio.wait_for(main(), DEADLINE))

    def test_whoever_is_cancelled_releases(self):
        path, sock = listening(self.directory.name)
        daemon = Daemon(sock, take)
        busy = threading.Event()

        async def main():
            loop = asyncio.get_running_loop()
            loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(1))
            lease = await swansong.guard("work", socket=path).__aenter__()
            other = loop.run_in_executor(None, busy.wait, DEADLINE)
            leaving = asyncio.ensure_future(lease.__aexit__(None, None, None))
            await asyncio.sleep(0)
            leaving.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await leaving
            busy.set()
            await other
            while not daemon.closed.is_set():
                await asyncio.sleep(0)

        asyncio.run(asyncio.wait_for(main(), DEADLINE))


class RootTest(unittest.TestCase):
    def setUp(self):
        os.environ.pop("SWANSONG_ATTACH", None)

    def test_without_a_daemon_it_is_an_ordinary_one(self):
        root = swansong.attach()
        self.assertFalse(root.attached)
        with root.guard():
            root.stop()
            self.assertFalse(root.wait(0))
        self.assertTrue(root.wait(DEADLINE))
        self.assertTrue(root.stopped)

    def test_the_daemon_reads_the_count(self):
        page = Page()
        root = swansong.attach()
        self.assertEqual(page.socket.recv(PAGE_SIZE), b"ATTACHED")
        self.assertNotIn("SWANSONG_ATTACH", os.environ)
        self.assertEqual(page.holder(), os.getpid())
        with root.guard(), root.guard("b") as b:
            self.assertEqual(page.guards(), 2)
            b.drop()
            b.drop()
            self.assertEqual(page.guards(), 1)
        self.assertEqual(page.guards(), 0)

    def test_the_daemon_never_reads_what_was_not_the_count(self):
        page = Page()
        root = swansong.attach()
        code = """
import mmap, sys
page = memoryview(mmap.mmap(int(sys.argv[1]), 0, prot=mmap.PROT_READ))
words, seen = page.cast("q"), set()
print("on", flush=True)
while not page[4096]:
    for _ in range(1000):
        seen.add(words[8])
print(*sorted(seen))
"""
        with root.guard(), subprocess.Popen(
            [sys.executable, "-c", code, str(page.fd)], pass_fds=[page.fd], stdout=subprocess.PIPE
        ) as reader:
            self.assertEqual(reader.stdout.readline(), b"on\n")
            for _ in range(50000):
                with root.guard():
                    pass
            os.pwrite(page.fd, b"x", PAGE_SIZE)
            seen = set(reader.stdout.read().split())
        self.assertLessEqual(seen, {b"1", b"2"})

    def test_the_stop_arrives_and_the_end_is_told(self):
        page = Page()
        root = swansong.attach()
        page.socket.recv(PAGE_SIZE)
        guard = root.guard()
        page.stop()
        self.assertTrue(root.wait_stopped(DEADLINE))
        self.assertTrue(select.select([root], [], [], DEADLINE)[0])
        self.assertFalse(root.wait(0))
        guard.drop()
        self.assertEqual(page.socket.recv(PAGE_SIZE), b"COMPLETE")
        self.assertTrue(root.wait(DEADLINE))

    def test_a_callback_that_fails_keeps_nobody_from_the_stop(self):
        page = Page()
        root = swansong.attach()
        page.socket.recv(PAGE_SIZE)
        called = []
        root.on_stop(lambda: 1 // 0)
        root.on_stop(lambda: called.append("second"))
        with told() as complaints:
            page.stop()
            self.assertEqual(page.socket.recv(PAGE_SIZE), b"COMPLETE")
            page.socket.send(b"REPORT")
            self.assertEqual(page.socket.recv(PAGE_SIZE), b"REPORT\n")
        self.assertEqual((called, complaints), (["second"], [ZeroDivisionError]))

    def test_a_stop_that_came_before_is_seen(self):
        page = Page(stop=1)
        root = swansong.attach()
        self.assertTrue(root.stopped)
        self.assertEqual(page.socket.recv(PAGE_SIZE), b"ATTACHED")
        self.assertEqual(page.socket.recv(PAGE_SIZE), b"COMPLETE")

    def test_the_report_names_the_places(self):
        page = Page()
        root = swansong.attach()
        page.socket.recv(PAGE_SIZE)
        with root.guard("nightly\nexport"):
            page.socket.send(b"REPORT")
            lines = page.socket.recv(PAGE_SIZE).decode().split("\n")
        self.assertEqual(lines[0], "REPORT")
        self.assertRegex(
            lines[1],
            r"^1 \d+ nightly export \(test-swansong\.py:\d+ test_the_report_names_the_places\)$",
        )
        self.assertEqual(lines[2:], [""])

    def test_a_long_report_is_cut_between_lines(self):
        page = Page()
        root = swansong.attach()
        page.socket.recv(PAGE_SIZE)
        guards = [root.guard("x" * 100 + str(i)) for i in range(100)]
        page.socket.send(b"REPORT")
        report = page.socket.recv(2 * PAGE_SIZE)
        self.assertLessEqual(len(report), PAGE_SIZE)
        self.assertTrue(report.endswith(b"\n"))
        for guard in guards:
            guard.drop()

    def test_the_end_of_the_daemon_is_no_stop(self):
        page = Page()
        before = set(threading.enumerate())
        root = swansong.attach()
        (listener,) = set(threading.enumerate()) - before
        page.socket.close()
        listener.join(DEADLINE)
        self.assertFalse(listener.is_alive())
        self.assertFalse(root.stopped)
        with root.guard():
            pass

    def test_what_is_no_page_is_refused(self):
        Page(magic=1)
        with self.assertRaisesRegex(swansong.Error, "version"):
            swansong.attach()
        Page(seals=0)
        with self.assertRaisesRegex(swansong.Error, "no page"):
            swansong.attach()
        for wrong in ("", "1", "a:b", "998:999"):
            os.environ["SWANSONG_ATTACH"] = wrong
            with self.assertRaises(swansong.Error, msg=wrong):
                swansong.attach()

    def test_one_process_at_a_time(self):
        page = Page()
        names = os.environ["SWANSONG_ATTACH"]
        code = "import swansong, sys\nswansong.attach()\nprint('on', flush=True)\nsys.stdin.read()"
        with subprocess.Popen(
            [sys.executable, "-c", code],
            pass_fds=[int(n) for n in names.split(":")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as other:
            self.assertEqual(other.stdout.readline(), b"on\n")
            with self.assertRaises(swansong.AlreadyAttached):
                swansong.attach()
            self.assertEqual(page.holder(), other.pid)
            other.kill()
            other.wait()
        self.assertEqual(page.holder(), 0)

    def test_a_forked_child_counts_for_itself(self):
        page = Page()
        root = swansong.attach()
        page.socket.recv(PAGE_SIZE)
        with root.guard():
            child = os.fork()
            if child == 0:
                with root.guard():
                    detached = not root.attached and root.guards == 2
                root.stop()
                os._exit(0 if detached and root.stopped else 1)
            _, status = os.waitpid(child, 0)
            self.assertEqual(status, 0)
            self.assertEqual(page.guards(), 1)
            self.assertFalse(root.stopped)
            self.assertEqual(page.holder(), os.getpid())

    def in_child(self, check):
        """Whether check() is true in a forked child, which ends in time."""
        child = os.fork()
        if child == 0:
            signal.alarm(DEADLINE)
            try:
                os._exit(0 if check() else 1)
            finally:
                os._exit(2)
        return os.waitpid(child, 0)[1] == 0

    def test_no_stop_is_seen_in_the_other_process(self):
        root = swansong.attach()
        ready = select.poll()
        ready.register(root.fileno(), select.POLLIN)
        number = root.fileno()

        def stop():
            before = root.stopped or ready.poll(0)
            root.stop()
            return not before and number == root.fileno() and ready.poll(0) and root.wait(0)

        self.assertTrue(self.in_child(stop))
        self.assertFalse(root.stopped or ready.poll(0))
        root.stop()
        self.assertTrue(ready.poll(0))
        self.assertTrue(self.in_child(lambda: root.stopped and ready.poll(0) and root.wait(0)))

    def test_a_fork_during_a_stop_leaves_nothing_half_done(self):
        root = swansong.attach()
        begun, forked = threading.Event(), threading.Event()
        root.on_stop(lambda: (begun.set(), forked.wait()))
        thread = threading.Thread(target=root.stop)
        thread.start()
        self.assertTrue(begun.wait(DEADLINE))
        self.assertTrue(self.in_child(lambda: root.wait(DEADLINE / 2)))
        self.assertFalse(root.wait(0))
        forked.set()
        thread.join()
        self.assertTrue(root.wait(0))

    def test_a_fork_beside_threads_leaves_nothing_half_done(self):
        root = swansong.attach()
        over = threading.Event()

        def work():
            while not over.is_set():
                with root.guard():
                    pass

        def is_whole():
            held = root.guards
            with root.guard():
                more = root.guards == held + 1
            return more and held == sum(count for count, _ in root._sites.values())

        threads = [threading.Thread(target=work) for _ in range(3)]
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        for thread in threads:
            thread.start()
        results = [self.in_child(is_whole) for _ in range(50)]
        over.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
        self.assertEqual(results.count(False), 0)
        self.assertEqual(root.guards, 0)

    def test_threads_lose_no_count(self):
        page = Page()
        root = swansong.attach()

        def work():
            for _ in range(2000):
                with root.guard():
                    pass

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((root.guards, page.guards()), (0, 0))


class InterruptTest(unittest.TestCase):
    def setUp(self):
        os.environ.pop("SWANSONG_ATTACH", None)
        self.root = swansong.attach()

    def test_an_iterator_ends_at_the_next_boundary(self):
        done = []
        for item in self.root.interrupt(range(10)):
            done.append(item)
            if item == 3:
                self.root.stop()
        self.assertEqual(done, [0, 1, 2, 3])
        self.assertEqual(list(self.root.interrupt([1])), [])

    def test_one_that_ends_by_itself_is_whole(self):
        self.assertEqual(list(self.root.interrupt(range(3))), [0, 1, 2])

    def test_accept_is_woken(self):
        listener = socket.create_server(("127.0.0.1", 0))
        with listener:
            timer = threading.Timer(0.05, self.root.stop)
            timer.start()
            self.assertIsNone(self.root.accept(listener))
            timer.join()

    def test_accept_does_not_wait_for_whom_another_takes(self):
        root = self.root

        class Poll:
            """Between readiness and accept() another process takes the connection."""
            def __init__(self, poll):
                self._poll = poll

            def register(self, *args):
                self._poll.register(*args)

            def poll(self):
                self._poll.poll()
                thief.accept()[0].close()
                threading.Timer(0.05, root.stop).start()
                swansong.select.poll = real

        real = swansong.select.poll
        with socket.create_server(("127.0.0.1", 0)) as listener, \
                socket.socket(fileno=os.dup(listener.fileno())) as thief, \
                socket.create_connection(listener.getsockname(), DEADLINE):
            swansong.select.poll = lambda: Poll(real())
            waiter = threading.Thread(target=root.accept, args=(listener,), daemon=True)
            waiter.start()
            waiter.join(DEADLINE)
            self.assertFalse(waiter.is_alive())

    def test_accept_knows_any_descriptor(self):
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        if limits[1] < 2048:
            self.skipTest("machine: allows fewer than 2048 descriptors")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 2048), limits[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        with socket.create_server(("127.0.0.1", 0)) as low:
            listener = socket.socket(fileno=fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 1500))
        with listener, socket.create_connection(listener.getsockname(), DEADLINE):
            connection, _ = self.root.accept(listener)
            connection.close()

    def test_a_signal_stops_it(self):
        before = signal.getsignal(signal.SIGUSR1)
        self.root.stop_on_signal(signal.SIGUSR1)
        try:
            os.kill(os.getpid(), signal.SIGUSR1)
            self.assertTrue(self.root.wait_stopped(DEADLINE))
        finally:
            signal.signal(signal.SIGUSR1, before)

    def test_a_signal_of_another_thread_stops_it(self):
        code = """
import os, signal, threading, time, swansong
root = swansong.attach()
root.stop_on_signal()
def main_is_asleep():
    with open(f"/proc/self/task/{os.getpid()}/stat") as stat:
        return ") S " in stat.read()
def kill():
    asleep = 0
    while asleep < 50: # and not only waiting for this thread
        time.sleep(0.001)
        asleep = asleep + 1 if main_is_asleep() else 0
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
    root.wait_stopped(5)
    os._exit(not root.stopped)
def run():
    threading.Thread(target=kill).start()
    threading.Event().wait()
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
    assert not root.stopped
run()
"""
        self.assertEqual(subprocess.run([sys.executable, "-c", code], timeout=60).returncode, 0)

    def test_an_asynchronous_iterator_is_woken_and_loses_nothing(self):
        async def produce(queue):
            while True:
                yield await queue.get()

        async def consume():
            queue = asyncio.Queue()
            got = []
            for i in range(3):
                queue.put_nowait(i)
            async for item in self.root.interrupt_async(produce(queue)):
                got.append(item)
                if item == 2:
                    asyncio.get_running_loop().call_later(0.05, self.root.stop)
            return got

        self.assertEqual(asyncio.run(asyncio.wait_for(consume(), DEADLINE)), [0, 1, 2])

    def test_an_asynchronous_iterator_that_ends_is_whole(self):
        async def produce():
            for i in range(3):
                yield i

        async def consume():
            return [item async for item in self.root.interrupt_async(produce())]

        self.assertEqual(asyncio.run(consume()), [0, 1, 2])
        self.assertEqual(self.root._callbacks, [])

    def test_the_stop_can_be_awaited(self):
        async def main():
            asyncio.get_running_loop().call_later(0.05, self.root.stop)
            await asyncio.wait_for(self.root.stopped_async(), DEADLINE)
            await self.root.stopped_async()

        asyncio.run(main())


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    tests = [test for group in suite for test in group]
    print(f"1..{len(tests)}")
    for number, test in enumerate(tests, 1):
        result = unittest.TestResult()
        test.run(result)
        good = result.wasSuccessful()
        name = test._testMethodName[5:].replace("_", " ")
        skip = "".join(f" # SKIP {reason}" for _, reason in result.skipped)
        print(f"{'ok' if good else 'not ok'} {number} - {name}{skip}")
        for _, text in result.errors + result.failures:
            print("".join(f"# {line}\n" for line in text.splitlines()), end="")
        sys.stdout.flush()


main()
