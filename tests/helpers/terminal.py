#!/usr/bin/python3
"""terminal.py COMMAND...: plays a user at a terminal, by a script on standard input.

COMMAND leads a session of its own on a new terminal of 24 x 80.  Each line of the script is a step:

    expect REGEX    wait until this has been shown after what was expected last
    send TEXT       type this, with escapes as in Python: \\r, \\x03 for Ctrl-C, \\x1a for Ctrl-Z
    size ROWS COLS  change the size of the window
    end STATUS      wait for the end of COMMAND, with this exit status

The exit status is 0 if all went so; else the output of the terminal is on standard error.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

PATIENCE = 30  # seconds a step


class Failure(Exception):
    pass


def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))


class Terminal:
    def __init__(self, command):
        self.shown = b""
        self.position = 0
        self.open = True
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            for signo in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(signo, signal.SIG_DFL)
            # Before there is a program that a change would interrupt.
            resize(0, 24, 80)
            os.execvp(command[0], command)

    def read(self, deadline):
        """Reads some of what is shown; False when there is no more."""
        if not self.open:
            return False
        ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            raise Failure("nothing more is shown")
        try:
            data = os.read(self.fd, 4096)
        except OSError:  # no process has the terminal any more
            data = b""
        self.shown += data
        self.open = bool(data)
        return self.open

    def expect(self, regex):
        deadline = time.monotonic() + PATIENCE
        while True:
            match = re.compile(regex.encode()).search(self.shown, self.position)
            if match:
                self.position = match.end()
                return
            if not self.read(deadline):
                raise Failure("the terminal is closed")

    def send(self, text):
        os.write(self.fd, text.encode().decode("unicode_escape").encode("latin-1"))

    def size(self, rows, columns):
        resize(self.fd, rows, columns)

    def end(self, status):
        deadline = time.monotonic() + PATIENCE
        while self.read(deadline):
            pass
        _, got = os.waitpid(self.pid, 0)
        self.pid = 0
        got = os.waitstatus_to_exitcode(got)
        if got != int(status):
            raise Failure(f"the exit status is {got}")


def main():
    terminal = Terminal(sys.argv[1:])
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if not word:
            continue
        arguments = rest.split() if word == "size" else [rest]
        try:
            {"expect": terminal.expect, "send": terminal.send, "size": terminal.size,
             "end": terminal.end}[word](*arguments)
        except Failure as failure:
            print(f"{line.strip()}: {failure}; shown:", file=sys.stderr)
            print(terminal.shown.decode(errors="replace").replace("\r", ""), file=sys.stderr)
            if terminal.pid:
                os.kill(terminal.pid, signal.SIGKILL)
            return 1
    return 0


sys.exit(main())
