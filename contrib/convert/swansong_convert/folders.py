"""Services that are folders of small files and scripts, as those of runit and s6-rc."""

import os

from .files import is_file, read_text
from .notes import BadInput, Option
from .values import is_path
from .writer import Node, Text, Words

SERVICES_MAX = 2000
SIZE_MAX = 256 << 10


class Folder:
    """One service; its files by name."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.name = os.path.basename(self.path)
        self.asked = {'run'}
        if not is_path(self.path):
            raise BadInput('%s:1: not a path that can be written' % path)

    def file(self, name):
        """The path of a file, or None."""
        self.asked.add(name)
        path = os.path.join(self.path, name)
        return path if is_file(path) else None

    def has(self, name):
        self.asked.add(name)
        return os.path.lexists(os.path.join(self.path, name))

    def names(self, name):
        """The names of files in a folder of it, without hidden ones."""
        self.asked.add(name)
        path = os.path.join(self.path, name)
        return sorted(n for n in os.listdir(path) if not n.startswith('.')) if os.path.isdir(path) else []

    def lines(self, name):
        """The lines of a file that are neither blank nor comments: [(number, text)]."""
        path = self.file(name)
        lines = enumerate(read_text(path, SIZE_MAX).split('\n'), 1) if path else ()
        return [(n, line.strip()) for n, line in lines if line.strip() and not line.lstrip().startswith('#')]

    def option(self, name, line=1, value=''):
        return Option(os.path.join(self.path, name), line, value, name)

    def value(self, name, function, node):
        """The value of a file of one line, or None."""
        lines = self.lines(name)
        if not lines:
            return None
        try:
            return function(lines[0][1])
        except ValueError as error:
            node.leave_out(self.option(name, *lines[0]), name, str(error))
            return None

    def leave_out_rest(self, node, why, reasons, silent):
        for name in sorted(os.listdir(self.path)):
            if name not in self.asked and name not in silent and not name.startswith('.'):
                node.leave_out(self.option(name), name, reasons.get(name, why))


def find(paths, mark):
    """Folders that have a file @mark, among the paths or directly below them."""
    found = []
    for path in paths:
        if os.path.lexists(os.path.join(path, mark)):
            found.append(Folder(path))
            continue
        for name in sorted(os.listdir(path)):
            below = os.path.join(path, name)
            if not name.startswith('.') and os.path.lexists(os.path.join(below, mark)):
                found.append(Folder(below))
    if not found:
        raise BadInput('%s:1: there is no service with a file %s' % (paths[0], mark))
    if len(found) > SERVICES_MAX:
        raise BadInput('%s:1: more than %d services' % (paths[0], SERVICES_MAX))
    return found


def put_run(folder, values):
    """A run script, which is started again for ever, a second after its end."""
    values['command'] = Words([os.path.join(folder.path, 'run')])
    values['directory'] = Text(folder.path, path=True)
    values['restart'] = Text('always')
    values['restart-delay'] = values['restart-delay-max'] = Text('1s')
    values['restart-limit'] = Text('none')
    values['signal-scope'] = Text('main')


def make_root(report, origin):
    root = Node('swansong', origin, report)
    root.is_group = True
    return root


def finish_words(path, killed):
    """A finish script with its two arguments; the signal has no number here."""
    return ['/bin/sh', '-c', 'case $EXIT_CODE in exited) exec "$0" "$EXIT_STATUS" 0 ;; *) exec "$0" %s 0 ;; esac'
            % killed, path]
