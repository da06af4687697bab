"""Reads a supervisord.conf as supervisord does: files, [include], %(...)s and values."""

import glob
import itertools
import os
import platform
import re
import shlex
import signal

from .files import read_text
from .notes import BadInput, Option, Section
from .writer import MARK

TRUE, FALSE = ('yes', 'true', 'on', '1'), ('no', 'false', 'off', '0')
HEADER = re.compile(r'\[([^]]+)\]')
WIDE = re.compile(r'%\([^)]*\)[^a-zA-Z%]*\d{4}')
OPTION = re.compile(r'(.*?)\s*[=:]\s*(.*)$')


def comment_begins(line):
    """Where configparser cuts a line: it looks at the first ; and the first # of a line together, then
    at the second ones, and so on; so a # after a blank may count, and a ; before it not."""
    if line.strip().startswith((';', '#')):
        return 0
    of_each = ([match.start() for match in re.finditer(prefix, line)] for prefix in ';#')
    for places in itertools.zip_longest(*of_each):
        begins = [i for i in places if i is not None and line[:i][-1:].isspace()]
        if begins:
            return min(begins)
    return None


def read_file(path, sections):
    """Adds what is in a file, by the rules of configparser; a later value replaces an earlier."""
    section = option = None
    indent = 0
    for number, line in enumerate(read_text(path).split('\n'), 1):
        comment = comment_begins(line)
        text = line[:comment].strip()
        if not text:
            if option and comment is None:
                option.value += '\n'
            continue
        here = len(line) - len(line.lstrip())
        if option and here > indent:
            option.value += '\n' + text
            continue
        indent = here
        header, pair = HEADER.match(text), OPTION.match(text)
        if header:
            name = header.group(1)
            section = sections.setdefault(name, Section(name, path, number))
            option = None
        elif section is None or not pair or not pair.group(1):
            raise BadInput('%s:%d: neither a section nor an option: %s' % (path, number, text))
        else:
            option = section[pair.group(1).lower()] = Option(path, number, pair.group(2))


def put_here(sections, path):
    """%(here)s is the folder of the file that it is written in."""
    for section in sections.values():
        for option in section.values():
            if option.file == path:
                folder = os.path.dirname(os.path.abspath(path)).replace('%', '%%')
                option.value = option.value.rstrip().replace('%(here)s', folder)


def read_all(path, report):
    sections = {}
    read_file(path, sections)
    put_here(sections, path)
    include = sections.get('include', {}).get('files')
    if include:
        folder = os.path.dirname(os.path.abspath(path))
        for pattern in expand(include, environment_names()).split():
            files = sorted(glob.glob(os.path.join(folder, pattern)))
            if not files:
                report.add(include, 'note: [include] files: no file matches %s' % pattern)
            for file in files:
                read_file(file, sections)
                put_here(sections, file)
    # Without, it may be one of the files that another one includes.
    sections.setdefault('supervisord', Section('supervisord', path, 1))
    for name, option in sections.pop('DEFAULT', {}).items():
        for section in sections.values():
            section.setdefault(name, option)
    return sections


def environment_names():
    names = {'ENV_' + name: value for name, value in os.environ.items()}
    names['host_node_name'] = platform.node()
    return names


def expand(option, names):
    """Puts in what %(…)s stands for."""
    try:
        if WIDE.search(option.value):
            raise ValueError('a width of more than three digits')
        return option.value % names
    except KeyError as key:
        name = key.args[0]
        why = '%%(%s)s is not known' % name
        if name.startswith('ENV_'):
            why = '%s is not in the environment of this command' % name[4:]
    except (OverflowError, TypeError, ValueError) as error:
        why = '%s; a %% itself is written %%%%' % error
    raise BadInput('%s:%d: %s' % (option.file, option.line, why))


def pairs(option, text):
    """KEY=value,KEY="value, too" as a list; words and quotes are supervisord's own."""
    lexer = shlex.shlex(text)
    lexer.wordchars += '/.+-():' + MARK
    try:
        tokens = list(lexer)
    except ValueError as error:
        raise BadInput('%s:%d: environment: %s' % (option.file, option.line, error)) from None
    values = {}
    for i in range(0, len(tokens), 4):
        if len(tokens[i:i + 3]) < 3 or tokens[i + 1] != '=':
            raise BadInput('%s:%d: environment is not of the form NAME="value",NAME="value"' %
                           (option.file, option.line))
        values[tokens[i]] = tokens[i + 2].strip('\'"')
    return values


class Reader:
    """Gives the options of one section, expanded; knows which ones were asked for.

    A number has no place for the mark: it is read with the name of an instance in its place."""

    def __init__(self, section, names, instance=MARK):
        self.section, self.names, self.instance = section, names, instance
        self.asked = set()

    def get(self, name, default=None):
        self.asked.add(name)
        option = self.section.get(name)
        return default if option is None else expand(option, self.names).strip()

    def convert(self, name, default, what, function):
        text = self.get(name)
        if text is None:
            return default
        text = text.replace(MARK, self.instance)
        try:
            return function(text)
        except (KeyError, ValueError):
            option = self.section[name]
            raise BadInput('%s:%d: %s is not %s: %s' %
                           (option.file, option.line, name, what, text)) from None

    def number(self, name, default):
        return self.convert(name, default, 'a number', int)

    def boolean(self, name, default):
        words = dict([(w, True) for w in TRUE] + [(w, False) for w in FALSE])
        return self.convert(name, default, 'a boolean', lambda text: words[text.lower()])

    def mode(self, name, default):
        return self.convert(name, default, 'an octal number', lambda text: '%04o' % int(text, 8))

    def size(self, name, default):
        def size(text):
            unit = {'kb': 1 << 10, 'mb': 1 << 20, 'gb': 1 << 30}.get(text.lower()[-2:])
            return int(text[:-2]) * unit if unit else int(text)
        return self.convert(name, default, 'a size', size)


def signal_name(text):
    """What Python knows, as supervisord asks it; by the name that everybody knows."""
    if text.isdigit():
        return signal.Signals(int(text)).name[3:]
    return signal.Signals['SIG' + re.sub('^SIG', '', text.upper())].name[3:]


def path_value(text, base):
    return os.path.normpath(os.path.join(base, os.path.expanduser(text)))
