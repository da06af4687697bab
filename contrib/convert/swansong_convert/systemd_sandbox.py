"""Limits of a unit to files, networks and system calls, as the keys of a sandbox."""

import re

from .systemd_reader import IGNORED
from .values import has_mark, is_path, read_boolean
from .writer import Text, Words

SYSTEMS = {'strict': 'yes', 'full': 'full'}
HOMES = {'read-only': 'read-only', 'tmpfs': 'yes'}
# Switches of which a filter of system calls is the larger part, with the calls and what it leaves.
CALLS = {
    'ProtectClock': (['@clock'], 'devices of clocks stay'),
    'ProtectHostname': (['sethostname', 'setdomainname'], None),
    'ProtectKernelModules': (['@module'], 'the files of modules stay visible'),
    'ProtectKernelLogs': (['syslog'], '/dev/kmsg stays'),
    'LockPersonality': (['personality'], None),
    'RestrictNamespaces': (['unshare', 'setns'], 'clone with a namespace stays'),
}
ENDS = 'a call that is not allowed fails with EPERM, and does not end the process'


def choice_of(option, reader, words):
    """What the word of a key with a switch stands for; None: off, or ignored."""
    if option.value in words:
        return words[option.value]
    on = reader.attempt(option, read_boolean, option.value)
    return 'yes' if on else None


def is_system(path):
    return path == '/' or re.match('/(usr|boot|efi|etc)(/|$)', path)


class Sandbox:
    """The keys of one service."""

    def __init__(self, service):
        self.reader, self.node, self.values = service.reader, service.node, service.values

    def put(self):
        system = self.put_choice('ProtectSystem', 'read-only-system', SYSTEMS)
        if system == 'yes' and self.reader.get('ProtectSystem') != 'strict':
            self.values['read-only-system'] = Text('usr')
        self.put_choice('ProtectHome', 'hide-home', HOMES)
        if self.put_choice('PrivateTmp', 'private-tmp', {'disconnected': 'yes'}):
            self.node.note(self.reader.option('PrivateTmp'), 'PrivateTmp', 'in memory')
        self.put_choice('PrivateNetwork', 'private-network', {})
        self.put_paths()
        self.put_calls()

    def put_choice(self, key, name, words):
        option = self.reader.option(key)
        value = option and choice_of(option, self.reader, words)
        if value:
            self.values[name] = Text(value)
        return value

    # --- Paths ---

    def paths(self, *keys):
        """Options with the path of each word, and a - in front where it may be missing."""
        for key in keys:
            for option in self.reader.words(key):
                path = option.value.lstrip('-+')
                if not is_path(path) or has_mark(path) or not path.startswith('/'):
                    self.reader.leave_out(option, 'not a path that can be written')
                else:
                    yield option, path, '-' if '-' in option.value[:2] else ''

    def put_paths(self):
        system = 'read-only-system' in self.values and self.values['read-only-system'].plain
        written = list(self.paths('ReadWritePaths', 'ReadWriteDirectories'))
        # Without a system that is read-only they would be all that can be written.
        if system and written:
            self.values['write-paths'] = Words(dict.fromkeys(mark + path for _, path, mark in written))
        for option, path, _ in written:
            if not system and 'hide-home' in self.values and re.match('/(home|root|run/user)(/|$)', path):
                self.reader.leave_out(option, 'write-paths without read-only-system is all that can be written')
        for option, path, _ in self.paths('ReadOnlyPaths', 'ReadOnlyDirectories'):
            covered = system == 'yes' or system == 'full' and is_system(path)
            if not covered or any((path + '/').startswith(other.rstrip('/') + '/') for _, other, _ in written):
                self.reader.leave_out(option, 'read-only-system is for all directories, with the exceptions '
                                      'of write-paths')

    # --- System calls ---

    def put_calls(self):
        words = self.filter_words()
        option = self.reader.option('SystemCallErrorNumber')
        if words and (not option or option.value not in ('EPERM', '1')):
            self.node.note(option or self.reader.option('SystemCallFilter'), 'SystemCallFilter', ENDS)
        for key, (calls, rest) in CALLS.items():
            option = self.reader.option(key)
            if not option:
                continue
            if key == 'RestrictNamespaces' and option.value not in ('yes', 'true', 'on', '1'):
                if option.value not in ('no', 'false', 'off', '0'):
                    self.reader.leave_out(option, 'there is no choice of namespaces')
                continue
            if choice_of(option, self.reader, {'private': 'yes'}):
                words += ['~' + call for call in calls]
                if rest:
                    self.node.note(option, key, rest)
        option = self.reader.option('SystemCallArchitectures')
        if option and not (words and option.value == 'native'):
            self.reader.leave_out(option, 'system-calls allows the calls of this architecture alone')
        if words:
            self.values['system-calls'] = Words(dict.fromkeys(words))

    def filter_words(self):
        words = []
        for option in self.reader.options('SystemCallFilter'):
            taken = option.value.startswith('~')
            for word in option.value.lstrip('~').split():
                name, _, error = word.partition(':')
                if not re.fullmatch('@?[a-z0-9_-]+', name):
                    self.reader.leave_out(option, IGNORED)
                    continue
                if error:
                    self.node.note(option, 'SystemCallFilter', '%s: the error is EPERM' % name)
                words.append(('~' if taken else '') + name)
        if '@known' in words:
            self.node.note(self.reader.option('SystemCallFilter'), 'SystemCallFilter', '@known is no limit')
            words = [word for word in words if word.startswith('~')]
        return words


def put_sandbox(service):
    Sandbox(service).put()
