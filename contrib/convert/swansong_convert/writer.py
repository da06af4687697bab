"""Sections of a configuration of swansongd, with the notes about them."""

import re
import shlex

from .notes import one_line

MARK = '\x01'  # stands for %i, the instance, until the value is written


def doubled(text):
    return text.replace('%', '%%').replace(MARK, '%i')


class Words:
    """A value made of words."""

    def __init__(self, words):
        self.words = list(words)

    def instance(self, name):
        return [word.replace(MARK, name) for word in self.words]

    def is_bound(self):
        """Returns true if the key has no place for %i that the value needs."""
        return False

    def text(self, key):
        lines = [key + ' =']
        for word in map(doubled, self.words):
            kept = word[1:] if word.startswith(('!path:', '!env:')) else word  # no prefix of a condition is quoted
            # Within quotes a value goes on in the next line, which has to be indented.
            if kept == word or shlex.quote(kept) != kept:
                word = shlex.quote(word).replace('\n', '\n    ')
            if len(lines[-1]) + len(word) > 98 and lines[-1] != key + ' =':
                lines.append('   ')
            lines[-1] += ' ' + word
        return '\n'.join(lines)


class Text:
    """A value that has no quotes."""

    def __init__(self, text, path=False):
        self.plain, self.path = text.replace('\n', ' '), path

    def instance(self, name):
        return self.plain.replace(MARK, name)

    def is_bound(self):
        return not self.path and MARK in self.plain

    def text(self, key):
        return '%s = %s' % (key, doubled(self.plain) if self.path else self.plain)


class Commands:
    """A key that is written once for each command."""

    def __init__(self, commands):
        self.commands = [Words(words) for words in commands]

    def instance(self, name):
        return [command.instance(name) for command in self.commands]

    def is_bound(self):
        return False

    def text(self, key):
        return '\n'.join(command.text(key) for command in self.commands)


class Node:
    """A section of ours: values by key, and the notes about it."""

    def __init__(self, name, origin, report):
        self.name, self.origin, self.report = name, origin, report
        self.values, self.comments, self.own = {}, [], []
        self.instances, self.is_group = None, False

    def comment(self, option, text):
        self.report.add(option, '[%s] %s' % (self.origin, text))
        comment = one_line('; %s:%d: %s' % (option.file, option.line, text))
        if comment not in self.comments:
            self.comments.append(comment)

    def note(self, option, name, why):
        self.comment(option, 'note: %s: %s' % (name, why))

    def leave_out(self, option, name, why):
        self.report.left_out = True
        hidden = name in ('username', 'password') or not option.value.strip()
        shown = '' if hidden else ' = ' + ' '.join(option.value.split())
        self.comment(option, 'not carried over: %s%s: %s' % (name, shown, why))

    def note_name(self, section, name):
        if self.name.rsplit('/', 1)[-1] != name:
            self.note(section, 'name', 'the node is called ' + self.name)

    def put_instances(self, shared, exact):
        """Values of a template, and by name those of its instances: they differ in sections of their own."""
        # What an instance does not have is not inherited by it.
        self.values = {key: value for key, value in shared.items() if not value.is_bound() and
                       all(key in values for values in exact.values())}
        for name, values in exact.items():
            own = Node(self.name + name, self.origin, self.report)
            own.values = {key: value for key, value in values.items() if key not in self.values or
                          value.instance(name) != self.values[key].instance(name)}
            if own.values:
                self.own.append(own.text())

    def text(self):
        lines = ['[%s]' % self.name if self.values or self.is_group else '; [%s]' % self.name]
        if self.instances:
            lines.append(Words(self.instances).text('instances'))
        lines += [value.text(key) for key, value in self.values.items()]
        return '\n'.join(lines + self.comments + [''] + self.own)


FIRST = ('requires', 'binds-to', 'wants', 'after', 'type', 'pid-file', 'listen', 'autostart', 'schedule',
         'schedule-jitter', 'start-command', 'command', 'ready')


def arranged(values):
    """The keys with which a section begins in the manual, then the others."""
    first = {key: values[key] for key in FIRST if key in values}
    return {**first, **values}


def loses_lines(word):
    """Returns true if a word of several lines is another one when it is read again."""
    return re.search(r'\n[ \t]*([;#\n]|$)|[ \t]\n', word) is not None


def spelled(words):
    """The command with words of several lines that no quotes can keep: the shell makes them."""
    if not any(map(loses_lines, words)):
        return words
    found = []
    for word in words:
        text = shlex.quote(word.replace('\\', '\\\\').replace('\n', '\\n'))
        found.append('"$(printf %%b %s)"' % text if loses_lines(word) else shlex.quote(word))
    return ['/bin/sh', '-c', 'exec ' + ' '.join(found)]


def size_text(size):
    """As log-size has it; 0 is no limit, here and there."""
    for unit, letter in ((1 << 30, 'G'), (1 << 20, 'M'), (1 << 10, 'K')):
        if size and size % unit == 0:
            return '%d%s' % (size // unit, letter)
    return str(size) if size else 'infinity'


def put_budget(root, where, seconds):
    """A shutdown that may last so long, with ten seconds more."""
    budget = seconds + 10
    if budget > 90:
        root.values['shutdown-timeout'] = Text('%ds' % budget)
    if budget > 95:
        # The daemon keeps 5 % of the time that its unit leaves.
        root.note(where, 'shutdown-timeout', 'swansongd.service has 100s for a stop, which cuts '
                  '%ds: set TimeoutStopSec=%ds and SWANSONG_GRACE=%ds in a drop-in of the unit'
                  % (budget, *[-(-budget * 100 // 95)] * 2))


def header(paths):
    return one_line('; Made from %s by swansong-convert; see swansong-migration(7).' %
                    ' '.join(paths)) + '\n'
