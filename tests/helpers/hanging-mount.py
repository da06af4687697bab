#!/usr/bin/env python3
"""hanging-mount.py DIRECTORY [UID]: mounts a file system there that answers nothing, so every call that opens
a file below it hangs, until this process ends by a signal.  With UID it is of that user, for all users, and answers
each look-up with a file of his, and nothing else."""

import ctypes
import os
import signal
import stat
import struct
import sys

LOOKUP, GETATTR, INIT = 1, 3, 26
ROOT = 1

uid = int(sys.argv[2]) if len(sys.argv) > 2 else os.getuid()
fuse = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={fuse},rootmode=40000,user_id={uid},group_id={uid}"
if len(sys.argv) > 2:
    options += ",allow_other"
if libc.mount(b"hanging", sys.argv[1].encode(), b"fuse", 0, options.encode()) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
if len(sys.argv) == 2:
    signal.pause()


def attributes(node):
    mode = stat.S_IFDIR | 0o755 if node == ROOT else stat.S_IFREG | 0o644
    return struct.pack("<6Q10I", node, 8, 8, 0, 0, 0, 0, 0, 0, mode, 1, uid, uid, 0, 4096, 0)


while True:
    request = os.read(fuse, 1 << 17)
    _, operation, number, node = struct.unpack_from("<IIQQ", request)
    if operation == INIT:
        reply = struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 12, 9, 1 << 16, 1, *[0] * 10)
    elif operation == LOOKUP:
        reply = struct.pack("<4Q2I", ROOT + 1, 0, 0, 0, 0, 0) + attributes(ROOT + 1)
    elif operation == GETATTR:
        reply = struct.pack("<Q2I", 0, 0, 0) + attributes(node)
    else:
        continue
    os.write(fuse, struct.pack("<IiQ", 16 + len(reply), 0, number) + reply)
