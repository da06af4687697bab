"""Messages: what is refused, what is not carried over, and the place of each in the input."""

import sys


def one_line(text):
    """A message: a value may have several lines, and characters that drive a terminal."""
    return ' '.join(''.join(c if c.isprintable() else ' ' for c in text).split())


class BadInput(Exception):
    """Input that its own program refuses, or that cannot be known here; nothing is written."""

    def __init__(self, *messages):
        super().__init__('\n'.join(one_line(message) for message in messages))


class Report:
    """Prints each message once, as something may happen for each process of a program."""

    def __init__(self):
        self.seen = set()
        self.left_out = False

    def add(self, where, text):
        line = one_line('%s:%d: %s' % (where.file, where.line, text))
        if line not in self.seen:
            self.seen.add(line)
            print(line, file=sys.stderr)


class Option:
    """A value of the input, and its place."""

    def __init__(self, file, line, value, name=''):
        self.file, self.line, self.value, self.name = file, line, value, name


class Section(dict):
    """Its options by name."""

    def __init__(self, name, file, line):
        super().__init__()
        self.name, self.file, self.line = name, file, line
