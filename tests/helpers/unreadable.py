"""unreadable.py DIRECTORY UID COMMAND [ARG...]

Makes a process of user UID that holds the lock of its own memory for ever: its environment and its command line
cannot be read.  It is in a session of its own, and its parent has ended.  Then executes COMMAND as this user.
DIRECTORY becomes the mount point of a file system with a file that is never read; it ends with COMMAND, and the
process with it.  Meanwhile ps and pgrep -f hang.
"""
import ctypes
import mmap
import os
import signal
import struct
import sys
import threading

INIT, LOOKUP, GETATTR, OPEN, READ, FORGETS = 26, 1, 3, 14, 15, (2, 42)
FOPEN_DIRECT_IO = 1
PR_SET_PDEATHSIG = 1

asked, told = os.pipe()
asked = open(asked, "rb", buffering=0)
directory, uid = sys.argv[1], int(sys.argv[2])
fuse = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other"
if libc.mount(b"unreadable", directory.encode(), b"fuse", 0, options.encode()) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))


def attributes(node):
    return struct.pack("<6Q10I", node, 4096, 8, *[0] * 6, 0o40755 if node == 1 else 0o100644, 1, *[0] * 3, 4096, 0)


def serve():
    opened = 0
    while True:
        _, operation, number, node = struct.unpack_from("<IIQQ", os.read(fuse, 1 << 17))
        if operation == READ:
            os.write(told, b"r")
        if operation == READ or operation in FORGETS:
            continue
        error, reply = 0, b""
        if operation == INIT:
            reply = struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 12, 9, 1 << 16, 1, *[0] * 10)
        elif operation == LOOKUP:
            reply = struct.pack("<4Q2I", 2, 0, 1000, 1000, 0, 0) + attributes(2)
        elif operation == GETATTR:
            reply = struct.pack("<Q2I", 1000, 0, 0) + attributes(node)
        elif operation == OPEN:
            reply = struct.pack("<QIi", 1, FOPEN_DIRECT_IO if opened else 0, 0)
            opened += 1
        else:
            error = -38
        os.write(fuse, struct.pack("<IiQ", 16 + len(reply), error, number) + reply)


# A page that is being read is locked, and an mmap of the file with direct I/O waits for that page.
def lock():
    os.setsid()
    reading, mapped = [os.open(directory + "/file", os.O_RDONLY) for _ in range(2)]
    threading.Thread(target=os.pread, args=(reading, 1, 0), daemon=True).start()
    asked.read(1)
    mmap.mmap(mapped, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ)
    os._exit(0)


def is_waiting(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return ") D " in stat.read()


os.setgroups([])
os.setgid(uid)
os.setuid(uid)
if os.fork() == 0:
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    serve()
os.close(fuse)
if os.fork() == 0:
    locking = os.fork()
    if locking == 0:
        lock()
    while not is_waiting(locking):
        pass
    os._exit(0)
os.wait()
os.execvp(sys.argv[3], sys.argv[3:])
