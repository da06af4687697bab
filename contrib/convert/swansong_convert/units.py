"""Unit files of systemd with their drop-ins, and the names of units.

The rules are those of systemd.syntax(7) and systemd.unit(5).  The instance of a template that was given
without one is MARK.
"""

import os
import re

from .files import is_file, read_text
from .notes import BadInput, Option
from .writer import MARK

FOLDERS = ('/etc/systemd/system', '/run/systemd/system', '/usr/local/lib/systemd/system',
           '/usr/lib/systemd/system', '/lib/systemd/system')
KINDS = ('service', 'socket', 'timer', 'target', 'path', 'mount', 'automount', 'swap', 'slice',
         'scope', 'device')
NAME = re.compile(r'([A-Za-z0-9:_.\\-]+)(@([A-Za-z0-9:_.\\@%s-]*))?\.(%s)' % (MARK, '|'.join(KINDS)), re.ASCII)
ASSIGNMENTS_MAX = 20000
SIZE_MAX = 256 << 10


class UnitName:
    """PREFIX[@INSTANCE].KIND"""

    def __init__(self, name):
        match = NAME.fullmatch(name)
        if not match or len(name) > 255:
            raise ValueError('not the name of a unit')
        self.prefix, self.kind = match.group(1), match.group(4)
        self.instance = match.group(3)
        self.is_template = match.group(2) is not None and not self.instance
        self.full = name

    def template(self):
        """The name of its template, or None."""
        return '%s@.%s' % (self.prefix, self.kind) if self.instance else None


def is_continued(line):
    return (len(line) - len(line.rstrip('\\'))) % 2 == 1


def logical_lines(path):
    """Lines with those that continue them, and the number of the first."""
    begun, number = None, 0
    for at, line in enumerate(read_text(path, SIZE_MAX).split('\n'), 1):
        if line.lstrip().startswith(('#', ';')):
            continue
        if begun is None:
            begun, number = '', at
        if is_continued(line.rstrip()):
            begun += line.rstrip()[:-1] + ' '
            continue
        yield number, (begun + line).strip()
        begun = None
    if begun is not None:
        yield number, begun.strip()


def read_assignments(path):
    """(section, option) in their order; section None: a line that systemd ignores."""
    section = None
    found = []
    for number, line in logical_lines(path):
        header = re.fullmatch(r'\[(.*)\]', line)
        name, equals, value = line.partition('=')
        if not line:
            continue
        if header:
            section = header.group(1)
        elif not equals or not name.strip() or section is None or line.startswith('['):
            found.append((None, Option(path, number, line, 'line')))
        else:
            found.append((section, Option(path, number, value.strip(), name.strip())))
        if len(found) > ASSIGNMENTS_MAX:
            raise BadInput('%s:%d: more than %d assignments' % (path, number, ASSIGNMENTS_MAX))
    return found


class Unit:
    """The assignments of one unit, with those of its drop-ins."""

    def __init__(self, name, path):
        self.name, self.path = name, path
        self.instance = MARK if name.is_template else name.instance
        self.instances = []  # of a template: those that are given or named
        self.assignments = []
        self.by_key = {}
        self.done = set()  # options that became a part of another value
        self.aliases = set()

    def read(self, paths):
        for path in paths:
            self.assignments += read_assignments(path)
        for section, option in self.assignments:
            self.by_key.setdefault((section, option.name), []).append(option)

    def all(self, section, key):
        """The values of a list; an empty assignment resets it."""
        found = []
        for option in self.by_key.get((section, key), ()):
            if option.value:
                found.append(option)
            else:
                found.clear()
        return found

    def last(self, section, key):
        """The last value; None if it is empty."""
        options = self.by_key.get((section, key))
        return options[-1] if options and options[-1].value else None

    def words(self, section, *keys):
        """The words of lists of names, an option each."""
        return [Option(option.file, option.line, word, key) for key in keys
                for option in self.all(section, key) for word in option.value.split()]

    def words_of_alias(self):
        return [option.value for option in self.words('Install', 'Alias')]

    def place(self):
        return Option(self.path, 1, '')


def drop_in_folders(name):
    """Names of the folders with drop-ins for a unit, the ones for it alone first."""
    stems = [name.full]
    if name.template():
        stems.append(name.template())
    at = '@' if '@' in name.full else ''
    parts = name.prefix.split('-')
    stems += ['-'.join(parts[:n]) + '-' + at + '.' + name.kind for n in range(len(parts) - 1, 0, -1)]
    return [stem + '.d' for stem in stems + [name.kind]]


def drop_ins(name, folders):
    """The files *.conf of these folders, sorted by name; the first one with a name hides the others."""
    found = {}
    for stem in drop_in_folders(name):
        for folder in folders:
            try:
                files = os.listdir(os.path.join(folder, stem))
            except OSError:
                continue
            for file in files:
                path = os.path.join(folder, stem, file)
                if file.endswith('.conf') and is_file(path):
                    found.setdefault(file, path)
    return [found[file] for file in sorted(found)]


class Units:
    """The units that are given, and those that these need."""

    def __init__(self, report):
        self.report = report
        self.by_name = {}
        self.aliases = None  # of all of them, when all are loaded

    def give(self, text):
        """A folder, a file, or a name that is looked up as systemd does."""
        if os.path.isdir(text):
            self.give_folder(text)
            return
        folder, name = os.path.split(text)
        try:
            unit = UnitName(name if '.' in name and name.rsplit('.', 1)[1] in KINDS
                            else name + '.service')
        except ValueError as error:
            raise BadInput('%s:1: %s' % (text, error)) from None
        if not folder and not self.find(unit, ['.']):
            folders = FOLDERS
        else:
            folders = [folder or '.']
            if os.path.realpath(folders[0]) in map(os.path.realpath, FOLDERS):
                folders = list(dict.fromkeys(folders + list(FOLDERS)))
        if not self.load(unit, folders):
            raise BadInput('%s:1: there is no such unit' % text)

    def give_folder(self, folder):
        for file in sorted(os.listdir(folder)):
            path = os.path.join(folder, file)
            if NAME.fullmatch(file) and is_file(path):
                self.load(UnitName(file), [folder])

    @staticmethod
    def find(name, folders):
        for folder in folders:
            for candidate in (name.full, name.template()):
                path = candidate and os.path.join(folder, candidate)
                if path and os.path.lexists(path):
                    return path
        return None

    def load(self, name, folders):
        """Returns the unit of a name, or None if there is no file for it."""
        if name.full in self.by_name:
            return self.by_name[name.full]
        path = self.find(name, folders)
        if not path:
            return None
        if name.instance:
            return self.load_instance(name, folders)
        target = os.path.basename(os.path.realpath(path))
        if target != name.full and NAME.fullmatch(target) and is_file(path):
            unit = self.load(UnitName(target), folders)
            if unit and not UnitName(target).instance:
                unit.aliases.add(name.full)
                return unit
        unit = self.by_name[name.full] = Unit(name, path)
        unit.folders = folders
        # A unit that is masked is a link to /dev/null.
        unit.read(([path] if is_file(path) else []) + drop_ins(name, folders))
        return unit

    def load_instance(self, name, folders):
        """An instance of a template; a file of its own has only what differs, which is rare."""
        own = next((path for path in (os.path.join(folder, name.full) for folder in folders)
                    if is_file(path) and not os.path.islink(path)), None)
        template = self.load(UnitName(name.template()), folders)
        if own or not template:
            unit = self.by_name[name.full] = Unit(name, own or self.find(name, folders))
            unit.folders = folders
            unit.read(([unit.path] if is_file(unit.path) else []) + drop_ins(name, folders))
            return unit
        if name.instance not in template.instances:
            template.instances.append(name.instance)
        return template

    def find_by_name(self, text):
        """(unit, instance) of a name or an alias among the units, or (None, None)."""
        try:
            name = UnitName(text)
        except ValueError:
            return None, None
        if text in self.by_name:
            return self.by_name[text], None
        if name.template() in self.by_name:
            return self.by_name[name.template()], name.instance
        return self.alias_index().get(text), None

    def alias_index(self):
        if self.aliases is None:
            self.aliases = {alias: unit for unit in self.by_name.values()
                            for alias in [*unit.aliases, *unit.words_of_alias()]}
        return self.aliases
