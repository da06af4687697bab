"""Reads files whose contents are not trusted."""

import os

from .notes import BadInput
from .writer import MARK

SIZE_MAX = 16 << 20


def is_file(path):
    """A file that a program may read unasked: no device, no pipe, nothing of the kernel that makes it wait."""
    return os.path.isfile(path) and not os.path.realpath(path).startswith(('/proc/', '/sys/', '/dev/'))


def read_text(path, most=SIZE_MAX):
    """The text of a file in UTF-8, with the ends of lines of this system."""
    with open(path, 'rb') as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise BadInput('%s:1: longer than %d kB' % (path, most >> 10))
    try:
        text = data.decode('utf-8')
    except UnicodeDecodeError as error:
        line = data.count(b'\n', 0, error.start) + 1
        raise BadInput('%s:%d: not UTF-8: %s' % (path, line, error.reason)) from None
    text = text.removeprefix('\ufeff').replace('\r\n', '\n').replace('\r', '\n')
    for character in (MARK, '\0'):
        if character in text:
            line = text.count('\n', 0, text.index(character)) + 1
            raise BadInput('%s:%d: a control character' % (path, line))
    return text
