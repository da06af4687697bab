#!/usr/bin/env python3
"""hanging-mount.py DIRECTORY: mounts a file system there that answers nothing, so every call that opens
a file below it hangs, until this process ends by a signal."""

import ctypes
import os
import signal
import sys

fuse = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={fuse},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
if libc.mount(b"hanging", sys.argv[1].encode(), b"fuse", 0, options.encode()) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
signal.pause()
