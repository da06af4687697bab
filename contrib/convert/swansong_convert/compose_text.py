"""Values of a compose file: variables in them, their place, and how they are shown."""

import os
import re
import shlex

from .files import is_file, read_text
from .notes import BadInput, Option
from .writer import MARK
from .yaml_nodes import Mapping, Scalar, Sequence

NAME = re.compile('[A-Za-z_][A-Za-z0-9_]*', re.ASCII)
LENGTH_MAX = 1 << 16
TOTAL_MAX = 16 << 20  # of values that anchors may repeat


def read_env_file(path):
    """The variables of the file .env beside the compose file."""
    found = {}
    for line in read_text(path).split('\n'):
        match = re.fullmatch(r'\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*(.*?)\s*', line, re.ASCII)
        if not match or line.lstrip().startswith('#'):
            continue
        value = match.group(2)
        if value[:1] in ('"', "'") and value[-1:] == value[:1] and len(value) > 1:
            value = value[1:-1]
        else:
            value = re.sub(r'(^|\s)#.*', '', value).rstrip()
        found[match.group(1)] = value
    return found


class Interpolation:
    """Replaces $NAME and ${NAME...} in one text."""

    def __init__(self, text, names, unset):
        self.text, self.names, self.unset, self.at = text, names, unset, 0

    def value(self, name):
        return self.names.get(name)

    def run(self, end='', depth=0):
        if depth > 10:
            raise ValueError('more than ten levels of variables')
        out = ''
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 1
            if character == end:
                return out
            out += self.variable(depth) if character == '$' else character
            if len(out) > LENGTH_MAX:
                raise ValueError('a value that is too long')
        if end:
            raise ValueError('${ without }')
        return out

    def variable(self, depth):
        if self.text.startswith('$', self.at):
            self.at += 1
            return '$'
        braces = self.text.startswith('{', self.at)
        match = NAME.match(self.text, self.at + braces)
        if not match:
            raise ValueError('a $ itself is written $$')
        self.at = match.end()
        name, value = match.group(), self.names.get(match.group())
        if not braces:
            return self.known(name, value)
        operator = re.compile(r'(:?)([-?+])').match(self.text, self.at)
        if not operator:
            if not self.text.startswith('}', self.at):
                raise ValueError('${%s is not closed' % name)
            self.at += 1
            return self.known(name, value)
        self.at = operator.end()
        word = self.run('}', depth + 1)
        given = value if operator.group(1) else ('x' if value is not None else '')
        if operator.group(2) == '+':
            return word if given else ''
        if given:
            return value
        if operator.group(2) == '?':
            raise ValueError('%s is not set: %s' % (name, word))
        return word

    def known(self, name, value):
        if value is None:
            self.unset.append(name)
        return value or ''


class Values:
    """What the values of one file are."""

    def __init__(self, path, report):
        self.path, self.report = path, report
        self.folder = os.path.dirname(os.path.abspath(path))
        self.total = 0
        self.names = {}
        env = os.path.join(self.folder, '.env')
        if is_file(env):
            self.names.update(read_env_file(env))
        self.names.update(os.environ)

    def refuse(self, line, why):
        raise BadInput('%s:%d: %s' % (self.path, line, why))

    def option(self, name, line, node=None):
        return Option(self.path, line, show(node), name)

    def text(self, node, key):
        """The text of a scalar; variables are replaced."""
        if not isinstance(node, Scalar):
            self.refuse(node.line, '%s is not a text' % key)
        unset = []
        try:
            text = Interpolation(node.value, self.names, unset).run()
        except ValueError as error:
            self.refuse(node.line, '%s: %s' % (key, error))
        for name in unset:
            self.report.add(Option(self.path, node.line, ''), 'note: %s is not set: empty' % name)
        self.total += len(text)
        if self.total > TOTAL_MAX:
            self.refuse(node.line, 'more than 16 MiB of values')
        if MARK in text or '\0' in text:
            self.refuse(node.line, '%s: a control character' % key)
        return text

    def mapping(self, node, key):
        if not isinstance(node, Mapping):
            self.refuse(node.line, '%s is not a mapping' % key)
        return node

    def texts(self, node, key):
        """A list of texts with their lines, or one text."""
        if isinstance(node, Sequence):
            return [(self.text(item, key), item.line) for item in node.items]
        return [(self.text(node, key), node.line)]

    def words(self, node, key):
        """A command: a list of words, or a text that is split as a shell does."""
        if isinstance(node, Sequence):
            return [self.text(item, key) for item in node.items]
        try:
            return shlex.split(self.text(node, key))
        except ValueError as error:
            return self.refuse(node.line, '%s: %s' % (key, error))

    def pairs(self, node, key):
        """NAME=VALUE as a mapping or a list: {name: (value or None, line)}."""
        if isinstance(node, Mapping):
            return {name: (None if isinstance(value, Scalar) and value.is_null() else self.text(value, key),
                           node.lines[name]) for name, value in node.items.items()}
        found = {}
        for text, line in self.texts(node, key) if not node.is_null() else ():
            name, equals, value = text.partition('=')
            found[name] = (value if equals else None, line)
        return found


def show(node):
    """A value in a message."""
    if node is None:
        return ''
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return ', '.join(item.value if isinstance(item, Scalar) else '...' for item in node.items[:10])
    return ', '.join(list(node.items)[:10])
