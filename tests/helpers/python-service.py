#!/usr/bin/python3
"""python-service: a service in Python, which uses its daemon in every way there is.

usage: python-service.py FIFO LOG

Each line of FIFO is a word: guard, drop; lease WHY, release; file TEXT (items of the iterator).  What
happens is a line of LOG.
"""

import sys
import threading

import swansong

root = swansong.attach()
log = open(sys.argv[2], "a", buffering=1)
print("attached" if root.attached else "alone", file=log)


def stopped():
    print(f"stopped with {root.guards}", file=log)


root.on_stop(stopped)


def follow():
    guard = lease = None
    while True:
        with open(sys.argv[1]) as fifo:
            for line in fifo:
                word, _, rest = line.strip().partition(" ")
                if word == "guard":
                    guard = root.guard(rest)
                elif word == "drop":
                    guard.drop()
                elif word == "lease":
                    try:
                        lease = swansong.guard(rest).take()
                    except swansong.Stopped:
                        print("refused: stopped", file=log)
                        continue
                elif word == "release":
                    lease.release()
                print(f"did {line.strip()}", file=log)


threading.Thread(target=follow, daemon=True).start()
root.wait()
print("complete", file=log)
