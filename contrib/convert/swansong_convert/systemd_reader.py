"""Values of one section of a unit: read, expanded, and noted where they cannot be used."""

from . import systemd_keys
from .notes import Option
from .systemd_words import Specifiers, split
from .values import read_boolean, read_number, read_span

IGNORED = 'systemd itself ignores it'


class Refused(Exception):
    """The unit cannot run here in a way that is meant: the option, and the reason."""


class Reader:
    """Gives the values of one section; knows which keys were asked for."""

    def __init__(self, unit, section, node):
        self.unit, self.section, self.node = unit, section, node
        self.specifiers = Specifiers(unit)
        self.asked = {'Sockets'} if section == 'Service' else set()

    def option(self, key):
        self.asked.add(key)
        return self.unit.last(self.section, key)

    def options(self, key):
        self.asked.add(key)
        return self.unit.all(self.section, key)

    def leave_out(self, option, why):
        self.node.leave_out(option, option.name, why)

    def attempt(self, option, function, *arguments):
        """The result of a function, or None with a note for a value that is not one."""
        try:
            return function(*arguments)
        except ValueError as error:
            self.leave_out(option, '%s: %s' % (error, IGNORED)
                           if 'written' not in str(error) and 'known' not in str(error) else str(error))
            return None

    def get(self, key, default=None):
        """The last value, as it stands there."""
        option = self.option(key)
        return option.value if option else default

    def expanded(self, key):
        """The last value with what its specifiers stand for, or None."""
        option = self.option(key)
        return option and self.attempt(option, self.specifiers.expand, option.value)

    def convert(self, key, default, function, *arguments):
        option = self.option(key)
        if not option:
            return default
        value = self.attempt(option, function, option.value, *arguments)
        return default if value is None else value

    def boolean(self, key, default=False):
        return self.convert(key, default, read_boolean)

    def span(self, key, default=None):
        return self.convert(key, default, read_span)

    def number(self, key, default, least, most):
        return self.convert(key, default, read_number, least, most)

    def words(self, key):
        """The words of a list, each an option with its value expanded."""
        found = []
        for option in self.options(key):
            words = self.attempt(option, split, option.value) or []
            for word in words:
                value = self.attempt(option, self.specifiers.expand, word)
                if value:
                    found.append(Option(option.file, option.line, value, key))
        return found

    def leave_out_rest(self):
        """Names each assignment that no code has asked for."""
        silent = systemd_keys.SILENT.get(self.section, ())
        seen = set()
        for section, option in self.unit.assignments:
            if section is None:
                self.node.note(option, 'line', 'not an assignment: ' + IGNORED)
            if section != self.section or option.name in self.asked or option.name in silent:
                continue
            if option.name.startswith('X-') or option.name in seen:
                continue
            effective = self.unit.all(section, option.name)
            seen.add(option.name)
            for its in effective:
                if its not in self.unit.done and not systemd_keys.is_off(option.name, its.value):
                    self.leave_out(its, systemd_keys.reason_of(section, option.name))
