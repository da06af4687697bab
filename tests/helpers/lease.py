"""lease.py FILE

Holds a lease on FILE: another process that executes or opens it waits for lease-break-time, 45 s, or until
this one ends.  Prints "leased", and "waits" when one does.
"""
import fcntl
import os
import signal
import sys

signal.signal(signal.SIGIO, lambda *_: print("waits", flush=True))
fcntl.fcntl(os.open(sys.argv[1], os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("leased", flush=True)
while True:
    signal.pause()
