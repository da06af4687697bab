"""Guards for Python programs that swansongd supervises.

A guard is a piece of work in progress: a shutdown waits for a guard that is held, up to the budgets of the
configuration, and shows its reason.

Work with a service, such as a backup that reads it: the service is up until the work is over.

    with swansong.guard("nightly export", node="data/redis", using=True):
        export()

Work of a service, in its own program: that learns of the stop at once, by SIGTERM, and goes on.

    root = swansong.attach()
    root.stop_on_signal()                           # SIGTERM stops root, and not the program
    for job in root.interrupt(jobs):                # ends at the next boundary after the stop
        with root.guard():                          # counted in a page that the daemon reads, if the
            work(job)                               # service has attach = yes, without a call

    with swansong.guard("nightly export"):          # a lease: a call to the daemon
        export()

Without a daemon all functions work, and hold up nothing.  See swansong.ini(5), keys control and attach,
and libswansong(3) for the meaning of guards.

The module needs only the standard library.  All functions may be called from any thread.

A forked child has its own copy of each root: every method may be called there, and the two processes do
not see each other's changes.  Guards of the thread that forks must be dropped in both processes.  Guards
of other threads are held for ever in the child, as it does not have these threads.  The descriptor of
fileno() keeps its number.  The child is not attached, and leases stay with the parent.
"""

import asyncio
import contextlib
import errno
import fcntl
import json
import mmap
import os
import select
import signal
import socket
import stat
import struct
import sys
import threading
import time
import weakref

__all__ = [
    "AlreadyAttached",
    "Error",
    "Guard",
    "Lease",
    "Refused",
    "Root",
    "Stopped",
    "attach",
    "guard",
]


class Error(Exception):
    """The base of all errors of this module."""


class Refused(Error):
    """The daemon refused; `name` is the error of its interface, as "NoSuchNode"."""

    def __init__(self, name, parameters):
        reason = parameters.get("reason") or parameters.get("node") or ""
        super().__init__(f"{name}: {reason}" if reason else name)
        self.name = name
        self.parameters = parameters


class Stopped(Refused):
    """The node is stopped: no new work begins on it."""


class AlreadyAttached(Error):
    """Another process of the service is attached."""


def _call_from_thread(callback):
    """Calls it, and reports an exception as one of any thread: the calling thread goes on."""
    try:
        callback()
    except Exception:
        threading.excepthook(
            threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread()))
        )


# --- leases ---


def _default_socket():
    if os.geteuid() == 0:
        return "/run/swansong/control.sock"
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return f"{runtime}/swansong/control.sock"
    # Every user can write to /tmp: the directory must belong to this user alone.
    directory = f"/tmp/swansong-{os.geteuid()}"
    try:
        st = os.lstat(directory)
    except OSError:
        return None
    private = stat.S_ISDIR(st.st_mode) and st.st_uid == os.geteuid() and not st.st_mode & 0o077
    return f"{directory}/control.sock" if private else None


class _Connection:
    """One connection to the daemon, with one call at a time."""

    def __init__(self, sock):
        self._sock = sock
        self._buffer = b""
        self._lock = threading.Lock()
        self._cut = False  # an exception interrupted a call, which the daemon may have carried out
        with _fork_lock:
            _connections.add(self)

    def close(self):
        self._sock.close()

    def shutdown(self):
        """Wakes the thread in receive()."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def send(self, method, parameters, interface="io.swansong", **flags):
        call = {"method": f"{interface}.{method}", "parameters": parameters, **flags}
        # Some programs have SIGPIPE end them.
        self._sock.sendall(json.dumps(call).encode() + b"\0", socket.MSG_NOSIGNAL)

    def receive(self):
        while b"\0" not in self._buffer:
            data = self._sock.recv(65536)
            if not data:
                raise ConnectionResetError("the daemon has gone")
            self._buffer += data
        text, self._buffer = self._buffer.split(b"\0", 1)
        reply = json.loads(text)
        parameters = reply.get("parameters") or {}
        if "error" in reply:
            name = reply["error"].rsplit(".", 1)[-1]
            raise (Stopped if name == "NodeStopped" else Refused)(name, parameters)
        return parameters, reply.get("continues", False)

    def _forget(self):
        """Drops the replies of an interrupted call, and releases a guard that it has taken."""
        self.send("GetInfo", {}, interface="org.varlink.service")
        reply, taken = {}, None
        while "vendor" not in reply:
            try:
                reply, _ = self.receive()
            except Refused:
                continue
            taken = reply.get("id", taken)
        self._cut = False
        if taken is not None:
            self._exchange("Release", {"id": taken})

    def _exchange(self, method, parameters):
        self._cut = True
        self.send(method, parameters)
        try:
            reply, _ = self.receive()
        except Refused:
            self._cut = False
            raise
        self._cut = False
        return reply

    def call(self, method, parameters):
        """Returns the reply.  If a handler of a signal raises an exception, the call is undone."""
        with self._lock:
            if self._cut:
                self._forget()
            try:
                return self._exchange(method, parameters)
            except (OSError, Error):
                raise
            except BaseException:
                self._forget()
                raise


_fork_lock = threading.RLock()  # nothing is registered during a fork
_connections = weakref.WeakSet()
_private = None
_signal_pipe = None  # of the thread that passes signals on
_private_lock = threading.Lock()


def _private_connection():
    """The connection that the service has by its key control, or None."""
    global _private
    with _private_lock:
        number = os.environ.pop("SWANSONG_CONTROL", None)
        if number is not None:
            try:
                os.set_inheritable(int(number), False)
                _private = _Connection(socket.socket(fileno=int(number)))
                _private._sock.setblocking(True)
            except (ValueError, OSError):
                _private = None
        return _private


def _connect(path):
    path = path or os.environ.get("SWANSONG_SOCKET") or _default_socket()
    if path is None or path == "none":
        return None
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.connect(path)
    except OSError as error:
        sock.close()
        if error.errno in (errno.ENOENT, errno.ECONNREFUSED):
            return None
        raise
    return _Connection(sock)


class Lease:
    """A guard on a node of the daemon; see guard().

    `id` is its number, as `swansongctl guards` shows it, and None without a daemon.  `lost` is None,
    or "expired", "revoked" or "gone" if the lease is not held any more; it stays None for leases over
    the connection of the key control.
    """

    def __init__(self, why, node, using, ttl, late, on_shutdown, path, required):
        self._parameters = {"why": why, "late": late}
        if using:
            self._parameters["using"] = True
        if node is not None:
            self._parameters["node"] = node
        if ttl is not None:
            self._parameters["ttl_usec"] = round(ttl * 1000000)
        self._on_shutdown = on_shutdown
        self._path = path
        self._required = required
        self._connection = None
        self._own = False
        self._pid = None
        self.id = None
        self.lost = None

    def take(self):
        """Takes the guard.  Raises Stopped, Refused, or OSError."""
        if self._connection is not None:
            raise Error("this lease is taken already")
        self.id = self.lost = None
        private = None
        if self._path is None and self._on_shutdown is None:
            private = _private_connection()
        self._pid = os.getpid()
        if private is None:
            self._take_own()
        else:
            self._take_private(private)
        return self

    def _take_private(self, connection):
        try:
            self.id = connection.call("TakeGuard", self._parameters)["id"]
        except (BrokenPipeError, ConnectionResetError):
            if self._required:
                raise
            return  # there was a daemon
        self._connection, self._own = connection, False

    def _take_own(self):
        connection = _connect(self._path)
        if connection is None:
            if self._required:
                raise FileNotFoundError(errno.ENOENT, "there is no daemon")
            return
        parameters = dict(self._parameters)
        parameters.setdefault("node", os.environ.get("SWANSONG_NODE", ""))
        try:
            connection.send("TakeGuard", parameters, more=True)
            reply, more = connection.receive()
            self.id = reply["id"]
            self._connection, self._own = connection, True
            if more:
                threading.Thread(
                    target=self._follow, args=(connection,), name="swansong-lease", daemon=True
                ).start()
        except BaseException:
            self._connection = None
            connection.close()
            raise

    def _follow(self, connection):
        lost = "gone"
        try:
            more = True
            while more:
                reply, more = connection.receive()
                lost = reply.get("lost", lost)
                if reply.get("stopping") and self._on_shutdown is not None:
                    _call_from_thread(self._on_shutdown)
        except (OSError, Error, ValueError):
            pass
        finally:
            if self._connection is connection:
                self.lost = lost

    def release(self):
        """Releases the guard; without effect if it is not held."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._own:
            if self._pid == os.getpid():
                connection.shutdown()
            connection.close()
        elif self._pid == os.getpid():
            try:
                connection.call("Release", {"id": self.id})
            except (OSError, Error):
                pass

    def __enter__(self):
        return self.take()

    def __exit__(self, *exception):
        self.release()

    async def __aenter__(self):
        loop = asyncio.get_running_loop()
        taken = loop.run_in_executor(None, self.take)

        def undo(future):
            if future.exception() is None:
                loop.run_in_executor(None, self.release)

        try:
            return await asyncio.shield(taken)
        except asyncio.CancelledError:
            taken.add_done_callback(undo)  # __aexit__() is not called
            raise

    async def __aexit__(self, *exception):
        # The release is not cancelled, even if it still waits for a thread.
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, self.release))


def guard(
    why="",
    *,
    node=None,
    using=False,
    ttl=None,
    late=False,
    on_shutdown=None,
    socket=None,
    required=False,
):
    """A lease: a guard that the daemon knows of, for `with` or `async with`.

    why          the reason, at most 200 bytes, which a waiting shutdown shows
    node         the node: by default that of the service of this process, or else the root
    using        the work uses the node, which gets its signal in a stop only when the work is over
    ttl          seconds after which the daemon releases the guard
    late         allow a node that is stopped and not yet complete
    on_shutdown  called once, in a thread of its own, at the stop of the node
    socket       the path of the control socket: by default $SWANSONG_SOCKET, or the default path
    required     without a daemon: raise an error; otherwise the guard holds up nothing

    The guard is released at the end of the block, or at the end of the program in any case.
    """
    return Lease(why, node, using, ttl, late, on_shutdown, socket, required)


# --- the program's own tree ---

_PAGE_MAGIC = int.from_bytes(b"swansong", "little")
_PAGE_VERSION = 1
_PAGE_HEADER = struct.Struct("=QIII")  # magic, version, n_lanes, stop
_PAGE_SIZE = 4096  # of the header; the rest is not used
_PAGE_STOP = 16
_PAGE_ELSEWHERE = 64
_PAGE_GATHERED = 72
_REPORT_MAX = 4096
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


class Guard:
    """A guard of a Root; see Root.guard()."""

    __slots__ = ("_root", "_site", "__weakref__")

    def __init__(self, root, site):
        self._root = root
        self._site = site
        root._take(site)

    def drop(self):
        """Drops the guard; repeated calls have no effect."""
        root, self._root = self._root, None
        if root is not None:
            root._drop(self._site)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.drop()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exception):
        self.drop()


class Root:
    """The program's own work: its guards, and its stop.  See attach()."""

    def __init__(self):
        self._lock = threading.RLock()  # for a fork in a handler of a signal
        self._held = 0
        self._sites = {}  # (why, file, line, function): [guards, since]
        self._stopped = threading.Event()
        self._complete = threading.Event()
        self._callbacks = []
        self._signals = set()  # that stop it
        self._page = None
        self._number = None  # in the page
        self._socket = None
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        with _fork_lock:
            _roots.add(self)

    # --- guards ---

    def guard(self, why=""):
        """Takes a guard, to be dropped by drop() or at the end of a `with`.

        Also after the stop: the program itself decides which work still begins.
        """
        frame = sys._getframe(1)
        code = frame.f_code
        return Guard(self, (why, code.co_filename, frame.f_lineno, code.co_name))

    @property
    def guards(self):
        """The number of guards that are held."""
        return self._held

    def _count(self, change):
        self._held += change
        if self._number is not None:
            # A single store of eight aligned bytes: the daemon reads the old number or the new one.
            # struct.pack_into() would store twice, as it writes zeros first.
            self._number[0] = self._held

    def _take(self, site):
        with self._lock:
            self._count(1)
            entry = self._sites.setdefault(site, [0, time.monotonic_ns() // 1000])
            entry[0] += 1

    def _drop(self, site):
        with self._lock:
            entry = self._sites.get(site)
            if entry is not None:
                entry[0] -= 1
                if entry[0] == 0:
                    del self._sites[site]
            self._count(-1)
        self._settle()

    def _settle(self):
        """Makes it complete, once: when it is stopped and no guard is held."""
        with self._lock:
            if self._held or not self._stopped.is_set() or self._complete.is_set():
                return
            self._complete.set()
        self._send(b"COMPLETE")

    # --- the stop ---

    @property
    def attached(self):
        """True if the daemon reads its guards."""
        return self._page is not None

    @property
    def stopped(self):
        """True from the stop on."""
        if self._stopped.is_set():
            return True
        page = self._page
        return page is not None and struct.unpack_from("=I", page, _PAGE_STOP)[0] != 0

    def stop(self):
        """Stops it: loops over interrupt() end.  Repeated calls have no effect."""
        with self._lock:
            if self._stopped.is_set():
                return
            self._stopped.set()
            callbacks, self._callbacks = self._callbacks, []
        os.write(self._wake_write, b"x")
        with contextlib.ExitStack() as last_first:  # all of them, even if one raises
            last_first.callback(self._settle)
            for callback in reversed(callbacks):
                last_first.callback(callback)

    def stop_on_signal(self, *signals):
        """Makes these signals stop it, by default SIGTERM.  Must be called in the main thread."""

        for signo in signals or (signal.SIGTERM,):
            self._signals.add(signo)
            signal.signal(signo, lambda signo, frame: self._stop_soon())
        _watch_signals()

    def _stop_soon(self):
        # Not in a handler: the interrupted code may have the lock.
        threading.Thread(target=self.stop, name="swansong-stop").start()

    def on_stop(self, callback):
        """Calls `callback` at the stop, on any thread; at once if it is stopped."""
        with self._lock:
            if not self._stopped.is_set():
                self._callbacks.append(callback)
                return
        callback()

    def wait_stopped(self, timeout=None):
        """Waits for the stop.  Returns False after the timeout."""
        return self._stopped.wait(timeout)

    def wait(self, timeout=None):
        """Waits until it is stopped and no guard is held.  Returns False after the timeout."""
        return self._complete.wait(timeout)

    def fileno(self):
        """A descriptor that is readable from the stop on; it must not be read from."""
        return self._wake_read

    def interrupt(self, iterable):
        """The same items, until the stop, which is checked between two items.

        A wait of the iterable is not interrupted; see accept(), and interrupt_async().
        """
        iterator = iter(iterable)
        while not self.stopped:
            try:
                item = next(iterator)
            except StopIteration:
                return
            yield item

    def accept(self, listener):
        """As listener.accept(), or None at the stop, which wakes it.

        The listener is made non-blocking, also in other processes that share it: they may take the
        connection first, and accept(2) would block then.
        """
        if not self.stopped:
            os.set_blocking(listener.fileno(), False)
        while not self.stopped:
            # Not select(), which refuses descriptors above 1023.
            poll = select.poll()
            poll.register(listener, select.POLLIN)
            poll.register(self._wake_read, select.POLLIN)
            poll.poll()
            if self.stopped:
                break
            try:
                return listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError, socket.timeout):
                pass
        return None

    async def stopped_async(self):
        """Returns at the stop."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def wake():
            loop.call_soon_threadsafe(lambda: future.done() or future.set_result(None))

        self.on_stop(wake)
        try:
            await future
        finally:
            with self._lock:
                if wake in self._callbacks:
                    self._callbacks.remove(wake)

    async def interrupt_async(self, iterable):
        """The items of an asynchronous iterable, until the stop, which also ends the wait for one."""
        iterator = iterable.__aiter__()
        stop = asyncio.ensure_future(self.stopped_async())
        item = None
        try:
            while not self.stopped:
                item = asyncio.ensure_future(iterator.__anext__())
                await asyncio.wait({item, stop}, return_when=asyncio.FIRST_COMPLETED)
                if not item.done():
                    return
                # An item that is there is not lost, even after the stop.
                try:
                    value = item.result()
                except StopAsyncIteration:
                    return
                yield value
        finally:
            for task in (item, stop):
                if task is not None and not task.done():
                    task.cancel()
                    try:
                        await task
                    except (asyncio.CancelledError, StopAsyncIteration):
                        pass

    # --- the daemon ---

    def _send(self, message):
        sock = self._socket
        if sock is None:
            return
        try:
            sock.send(message, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except OSError:
            pass

    def _report(self):
        with self._lock:
            sites = sorted(self._sites.items(), key=lambda entry: entry[1][1])
        text = b"REPORT\n"
        for (why, file, line, function), (count, since) in sites:
            place = f"{os.path.basename(file)}:{line} {function}"
            if why:
                place = f"{why} ({place})"
            row = f"{count} {since} {' '.join(place.split())}\n".encode(errors="replace")
            if len(text) + len(row) > _REPORT_MAX:
                break
            text += row
        return text

    def _listen(self, sock):
        while True:
            try:
                message = sock.recv(_REPORT_MAX)
            except OSError:
                return
            if message == b"STOP":
                _call_from_thread(self.stop)
            elif message == b"REPORT":
                self._send(self._report())
            elif not message:
                return  # the end of the daemon is no stop

    def _attach(self, page_fd, sock):
        seals = fcntl.fcntl(page_fd, fcntl.F_GET_SEALS)
        size = os.fstat(page_fd).st_size
        if seals & _SEALS != _SEALS or size < _PAGE_SIZE:
            raise Error("the descriptor of SWANSONG_ATTACH is no page")
        try:
            fcntl.lockf(page_fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise AlreadyAttached("another process of the service is attached") from None
            raise
        # Never closed, as this would release the lock.
        page = mmap.mmap(page_fd, _PAGE_SIZE)
        magic, version, _, stop = _PAGE_HEADER.unpack_from(page)
        if magic != _PAGE_MAGIC or version != _PAGE_VERSION:
            raise Error("the page is of another version")
        with self._lock:
            self._page, self._page_fd, self._socket = page, page_fd, sock
            self._number = memoryview(page)[_PAGE_ELSEWHERE : _PAGE_ELSEWHERE + 8].cast("q")
            self._count(0)
            # A single word counts all threads; the other words are of an earlier process.
            struct.pack_into("=I", page, _PAGE_GATHERED, 1)
        self._send(b"ATTACHED")
        if stop:
            self.stop()
        threading.Thread(
            target=self._listen, args=(sock,), name="swansong-attach", daemon=True
        ).start()

    def _forked(self):
        """In the child: gives it guards and a stop of its own."""
        # The lock of an event may be held by a thread that the child does not have.
        self._lock = threading.RLock()
        self._stopped = _copy_event(self._stopped, self.stopped)
        self._complete = _copy_event(self._complete)
        page, self._page = self._page, None
        number, self._number = self._number, None
        sock, self._socket = self._socket, None
        if sock is not None:
            sock.close()
        if page is not None:
            number.release()
            page.close()
            os.close(self._page_fd)
        for new, old in zip(
            os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK), (self._wake_read, self._wake_write)
        ):
            os.dup2(new, old, inheritable=False)
            os.close(new)
        if self._stopped.is_set():
            os.write(self._wake_write, b"x")
        self._settle()  # a thread of the parent may have been in it

    def __del__(self):
        for fd in (self._wake_read, self._wake_write):
            try:
                os.close(fd)
            except OSError:
                pass


def _copy_event(event, also=False):
    copy = threading.Event()
    if also or event.is_set():
        copy.set()
    return copy


_roots = weakref.WeakSet()
_held_for_fork = []


def _pass_signals(fd):
    while numbers := os.read(fd, 64):
        for root in list(_roots):
            if root._signals.intersection(numbers):
                root._stop_soon()


def _watch_signals():
    """Passes signals on by a thread.

    A handler runs in the main thread only, and a signal that another thread gets does not wake that from its
    wait.  If the program has such a descriptor for itself, as an event loop has, that wakes the main thread.
    """
    global _signal_pipe
    if _signal_pipe:
        return
    read, write = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(write, False)
    before = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    if before != -1:
        signal.set_wakeup_fd(before)
        os.close(read)
        os.close(write)
        return
    _signal_pipe = read, write
    threading.Thread(target=_pass_signals, args=(read,), name="swansong-signals", daemon=True).start()


def _before_fork():
    """Waits for changes of other threads, which would stay half done in the child."""
    _fork_lock.acquire()
    _held_for_fork[:] = _roots
    for root in _held_for_fork:
        root._lock.acquire()


def _after_fork_in_parent():
    while _held_for_fork:
        _held_for_fork.pop()._lock.release()
    _fork_lock.release()


def _after_fork_in_child():
    global _private, _private_lock, _fork_lock, _signal_pipe
    _held_for_fork.clear()
    _fork_lock = threading.RLock()
    _private_lock = threading.Lock()
    _private = None
    # A copy in the child would hold the parent's leases after its end.
    for connection in list(_connections):
        connection.close()
    for root in list(_roots):
        root._forked()
    # Its signals are not those of the parent.
    if _signal_pipe:
        for fd in _signal_pipe:
            os.close(fd)
        _signal_pipe = None
        signal.set_wakeup_fd(-1)
        _watch_signals()


os.register_at_fork(
    before=_before_fork,
    after_in_parent=_after_fork_in_parent,
    after_in_child=_after_fork_in_child,
)


def attach():
    """The root of the program's own tree, attached to its service if that has `attach = yes`.

    Without a daemon it is not attached, and works all the same.  Must be called once.  Raises
    AlreadyAttached if another process of the service is attached, and Error or OSError if the
    environment is wrong.
    """
    root = Root()
    names = os.environ.pop("SWANSONG_ATTACH", None)
    if names is None:
        return root
    try:
        page_fd, socket_fd = (int(number) for number in names.split(":"))
        for fd in (page_fd, socket_fd):
            os.set_inheritable(fd, False)
        sock = socket.socket(fileno=socket_fd)
        sock.setblocking(True)
    except (ValueError, OSError) as error:
        raise Error(f"SWANSONG_ATTACH is wrong: {error}") from None
    root._attach(page_fd, sock)
    return root
