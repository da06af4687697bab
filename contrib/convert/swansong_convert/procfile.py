"""A Procfile, as foreman runs it: all processes with a PORT, until one of them ends."""

import os
import re
import shlex

from .files import read_text
from .notes import BadInput, Option
from .values import Paths, is_path
from .writer import Node, Text, Words, header, loses_lines

LINE = re.compile(r'([A-Za-z0-9_-]+):[ \t]*(\S.*)')
SHELL = re.compile(r'[$&|;<>()`*?\[\]{}~#!\\]')


def command_words(text):
    """The words of a simple command, or a shell with it."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if not words or SHELL.search(text) or '=' in words[0] or any(map(loses_lines, words)):
        return ['/bin/sh', '-c', text]
    return words


def convert(paths, report):
    (path,) = paths
    folder = os.path.dirname(os.path.abspath(path))
    if not is_path(folder + '/.env'):
        raise BadInput('%s:1: not in a folder that can be written' % path)
    taken, nodes, seen = Paths(), [], {}
    root = Node('swansong', 'Procfile', report)
    root.is_group = True
    root.values['directory'] = Text(folder, path=True)
    if len(folder.split()) == 1:
        root.values['environment-file'] = Words(['-%s/.env' % folder])
    root.values['stop-timeout'] = Text('5s')
    for number, line in enumerate(read_text(path).split('\n'), 1):
        if not line.strip() or line.lstrip().startswith('#'):
            continue
        match = LINE.fullmatch(line.strip())
        option = Option(path, number, line.strip(), 'line')
        if not match:
            root.leave_out(option, 'line', 'not NAME: COMMAND')
            continue
        name, text = match.groups()
        if name in seen:
            raise BadInput('%s:%d: %s is in line %d as well' % (path, number, name, seen[name]))
        seen[name] = number
        node = Node(taken.take(name), name, report)
        node.note_name(option, name)
        node.values['command'] = Words(command_words(text))
        node.values['environment'] = Words(['PORT=%d' % (5000 + 100 * len(nodes))])
        node.values['restart'], node.values['essential'] = Text('never'), Text('yes')
        nodes.append(node)
    if not nodes:
        raise BadInput('%s:1: there are no processes' % path)
    return '\n'.join([header(paths), root.text(), *(node.text() for node in nodes)])
