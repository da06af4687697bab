"""Limits of a unit to files, networks and system calls, as the keys of a sandbox."""

import re

from .systemd_keys import SERVICE
from .systemd_reader import IGNORED
from .values import has_mark, is_path, read_boolean
from .writer import Text, Words

SYSTEMS = {'strict': 'yes', 'full': 'full'}
HOMES = {'read-only': 'read-only', 'tmpfs': 'yes'}
# Switches, each a word of protect; another value than a switch may stand for yes.
PROTECTIONS = {
    'ProtectKernelTunables': ('tunables', {}),
    'ProtectControlGroups': ('cgroups', {'private': 'yes', 'strict': 'yes'}),
    'ProtectKernelModules': ('modules', {}),
    'ProtectKernelLogs': ('logs', {}),
    'ProtectClock': ('clock', {}),
    'ProtectHostname': ('hostname', {'private': 'yes'}),
    'ProtectProc': ('processes', {'invisible': 'yes', 'ptraceable': 'yes', 'noaccess': 'yes', 'default': None}),
    'RestrictNamespaces': ('namespaces', {}),
    'LockPersonality': ('personality', {}),
    'RestrictRealtime': ('realtime', {}),
    'RestrictSUIDSGID': ('suid', {}),
    'MemoryDenyWriteExecute': ('write-execute', {}),
}
NAMESPACES = re.compile('~?(cgroup|ipc|net|mnt|pid|user|uts|time)( |$)')
FAMILIES = ('unix', 'inet', 'inet6', 'netlink', 'packet', 'can', 'vsock', 'alg', 'xdp', 'bluetooth')
# Devices of a class that programs look for.
CLASSES = {'char-rtc': ['/dev/rtc', '/dev/rtc0'], 'char-pps': ['/dev/pps0', '/dev/pps1'],
           'char-ptp': ['/dev/ptp0', '/dev/ptp1'], 'char-tun': ['/dev/net/tun']}
STANDARD = ('/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom', '/dev/tty', '/dev/ptmx', 'char-pts')
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
        self.dynamic = service.dynamic  # it implies limits

    def put(self):
        system = self.put_choice('ProtectSystem', 'read-only-system', SYSTEMS)
        if system == 'yes' and self.reader.get('ProtectSystem') != 'strict':
            self.values['read-only-system'] = Text('usr')
        self.put_choice('ProtectHome', 'hide-home', HOMES)
        if self.put_choice('PrivateTmp', 'private-tmp', {'disconnected': 'yes'}):
            self.node.note(self.reader.option('PrivateTmp'), 'PrivateTmp', 'in memory')
        if self.dynamic:
            self.values.update({'read-only-system': Text('yes'), 'private-tmp': Text('yes')})
            self.values.setdefault('hide-home', Text('read-only'))
            self.values['no-new-privileges'] = Text('yes')
        self.put_choice('PrivateNetwork', 'private-network', {})
        if self.put_choice('PrivateUsers', 'private-users', {'self': 'yes'}):
            self.node.note(self.reader.option('PrivateUsers'), 'PrivateUsers', 'its own user alone, without root')
        self.put_choice('PrivateDevices', 'private-devices', {})
        self.put_paths(self.put_devices())
        self.put_protections()
        self.put_families()
        self.put_calls()
        keyring = self.reader.option('KeyringMode')
        if keyring and keyring.value != 'private':
            self.reader.leave_out(keyring, SERVICE['KeyringMode'])

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

    def put_devices(self):
        """Devices are paths that stay in a private /dev."""
        policy, found = self.reader.option('DevicePolicy'), []
        allowed = self.reader.options('DeviceAllow')
        for option in allowed:
            name = option.value.split()[0]
            if name not in STANDARD and name not in CLASSES and not is_path(name):
                self.reader.leave_out(option, 'a class of devices: name them in write-paths')
            elif name not in STANDARD:
                found += CLASSES.get(name, [name])
        closed = policy and policy.value in ('closed', 'strict') or allowed
        if found and 'read-only-system' not in self.values:
            for option in allowed:
                self.reader.leave_out(option, 'write-paths without read-only-system is all that can be written')
        elif closed:
            self.values['private-devices'] = Text('yes')
            return ['-' + path for path in found]
        return []

    def put_paths(self, devices):
        system = 'read-only-system' in self.values and self.values['read-only-system'].plain
        written = list(self.paths('ReadWritePaths', 'ReadWriteDirectories'))
        # Without a system that is read-only they would be all that can be written.
        if system and (written or devices):
            self.values['write-paths'] = Words(dict.fromkeys([mark + path for _, path, mark in written] + devices))
        for option, path, _ in written:
            if not system and 'hide-home' in self.values and re.match('/(home|root|run/user)(/|$)', path):
                self.reader.leave_out(option, 'write-paths without read-only-system is all that can be written')
        for option, path, _ in self.paths('ReadOnlyPaths', 'ReadOnlyDirectories'):
            covered = system == 'yes' or system == 'full' and is_system(path)
            if not covered or any((path + '/').startswith(other.rstrip('/') + '/') for _, other, _ in written):
                self.reader.leave_out(option, 'read-only-system is for all directories, with the exceptions '
                                      'of write-paths')

    # --- The kernel ---

    def put_protections(self):
        words = []
        for key, (word, others) in PROTECTIONS.items():
            option = self.reader.option(key)
            if option and key == 'RestrictNamespaces' and NAMESPACES.match(option.value):
                self.reader.leave_out(option, 'there is no choice of namespaces')
            elif option and choice_of(option, self.reader, others):
                words.append(word)
            elif key == 'RestrictSUIDSGID' and self.dynamic:
                words.append(word)
        if words:
            self.values['protect'] = Words(['all'] if len(words) == len(PROTECTIONS) else words)

    def put_families(self):
        words = []
        for option in self.reader.options('RestrictAddressFamilies'):
            for name in option.value.lstrip('~').split():
                word = {'AF_LOCAL': 'unix', 'none': 'none'}.get(name, name.lower().removeprefix('af_'))
                if word not in FAMILIES + ('none',):
                    self.reader.leave_out(option, 'address-families has no %s' % name)
                    return
                words.append('~' * option.value.startswith('~') + word)
        if words:
            self.values['address-families'] = Words(dict.fromkeys(words))

    # --- System calls ---

    def put_calls(self):
        words = self.filter_words()
        option = self.reader.option('SystemCallErrorNumber')
        if words and (not option or option.value not in ('EPERM', '1')):
            self.node.note(option or self.reader.option('SystemCallFilter'), 'SystemCallFilter', ENDS)
        option = self.reader.option('SystemCallArchitectures')
        filters = words or 'protect' in self.values or 'address-families' in self.values
        if option and not (filters and option.value == 'native'):
            self.reader.leave_out(option, 'a filter of system calls allows those of this architecture alone')
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
