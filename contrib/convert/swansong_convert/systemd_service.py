"""The section [Service] of a unit as the keys of a node: kind, restarts, stop, rights and limits."""

import re
import zlib

from .systemd_commands import Commands, is_main_privileged
from .systemd_output import put_output
from .systemd_reader import IGNORED, Reader, Refused
from .systemd_sandbox import put_sandbox
from .systemd_words import account
from .values import (CAPABILITIES, INFINITY, has_mark, is_account, is_path, read_mode, read_signal,
                     read_size, read_span, seconds_of, span_text)
from .writer import Text, Words

EXITS = {name: 64 + i for i, name in enumerate(
    'USAGE DATAERR NOINPUT NOUSER NOHOST UNAVAILABLE SOFTWARE OSERR OSFILE CANTCREAT IOERR TEMPFAIL '
    'PROTOCOL NOPERM CONFIG'.split())}
EXITS.update({'SUCCESS': 0, 'FAILURE': 1, 'INVALIDARGUMENT': 2, 'NOTIMPLEMENTED': 3, 'NOPERMISSION': 4,
              'NOTINSTALLED': 5, 'NOTCONFIGURED': 6, 'NOTRUNNING': 7})
LIMITS = {key: 'limit-' + key[5:].lower() for key in (
    'LimitAS LimitCORE LimitCPU LimitDATA LimitFSIZE LimitLOCKS LimitMEMLOCK LimitMSGQUEUE LimitNICE '
    'LimitNOFILE LimitNPROC LimitRSS LimitRTPRIO LimitRTTIME LimitSIGPENDING LimitSTACK').split()}
SIZES = ('as', 'core', 'data', 'fsize', 'memlock', 'msgqueue', 'rss', 'stack')
DYNAMIC = (61184, 65519)  # the users of DynamicUser=


class Service:
    """One service, or one instance of a template."""

    def __init__(self, unit, node, tree):
        self.unit, self.node, self.tree = unit, node, tree
        self.reader = Reader(unit, 'Service', node)
        self.values = {}
        self.stop_usec = 90000000
        self.stop_is_given = False

    def convert(self):
        """Returns the values; an exception if there can be no such service."""
        # With a main process that keeps the rights of root, the user is that of the other commands.
        self.account = self.get_user()
        self.user = None if self.account and is_main_privileged(self.reader) else self.account
        self.put_kind()
        self.commands = Commands(self)
        self.commands.put()
        if self.unit.timer and self.kind != 'oneshot':
            self.node.note(self.unit.place(), 'type', 'a service with a schedule is a oneshot')
            for key in ('ready', 'notify', 'notify-access', 'pid-file'):
                self.values.pop(key, None)
            self.values['type'] = Text('oneshot')
        self.put_restart()
        self.put_times()
        self.put_stop()
        self.put_rights()
        self.put_limits()
        put_output(self)
        self.reader.leave_out_rest()
        return self.values

    def is_oneshot(self):
        return 'type' in self.values and self.values['type'].plain == 'oneshot'

    # --- What it is ---

    def put_kind(self):
        reader, values = self.reader, self.values
        self.kind = reader.get('Type', 'simple' if self.unit.all('Service', 'ExecStart') else 'oneshot')
        if reader.option('BusName') and not reader.option('Type'):
            self.kind = 'dbus'
        option = reader.option('Type')
        pid_file = reader.option('PIDFile')
        if self.kind == 'oneshot':
            values['type'] = Text('oneshot')
        elif self.kind == 'forking':
            self.put_forking(option, pid_file)
        elif self.kind in ('notify', 'notify-reload'):
            values['ready'] = Text('notify')
        elif self.kind == 'dbus':
            self.put_bus(option)
        elif self.kind not in ('simple', 'exec', 'idle'):
            reader.leave_out(option, IGNORED)
        if pid_file and self.kind != 'forking':
            self.node.note(pid_file, 'PIDFile', 'the main process is the one that was started')
        if reader.option('ReloadSignal'):
            name = reader.convert('ReloadSignal', None, read_signal)
            if name and name != 'HUP':
                values['reload-signal'] = Text(name)
        self.put_access()
        if reader.boolean('RemainAfterExit') and self.kind != 'oneshot':
            self.node.note(reader.option('RemainAfterExit'), 'RemainAfterExit',
                           'a service that has ended is not up any more')

    def put_access(self):
        """systemd accepts messages of any user, and by default those of the main process alone."""
        option, notifies = self.reader.option('NotifyAccess'), self.kind in ('notify', 'notify-reload')
        access = option.value if option else 'none'
        if self.kind == 'oneshot' or access == 'none' and not notifies:
            return
        if access == 'exec':
            self.node.note(option, 'NotifyAccess', 'each process of the service may send')
        if not notifies:
            self.values['notify'] = Text('yes')
        self.values['notify-access'] = Text('all' if access in ('all', 'exec') else 'main')

    def put_forking(self, option, pid_file):
        path = self.reader.expanded('PIDFile')
        if not path:
            raise Refused(pid_file or option, 'the main process is not guessed: set PIDFile= in a drop-in of '
                          'the unit, or change the command to one that stays in the foreground')
        path = path if path.startswith('/') else '/run/' + path
        if not is_path(path):
            raise Refused(pid_file, 'a path that cannot be written')
        self.values['type'] = Text('forking')
        self.values['pid-file'] = Text(path, path=True)

    def put_bus(self, option):
        name = self.reader.expanded('BusName')
        where = self.reader.option('BusName') or option
        if name and re.fullmatch(r'[A-Za-z_][A-Za-z0-9_.-]*', name):
            self.values['ready'] = Words([
                'exec:dbus-send', '--system', '--print-reply', '--dest=org.freedesktop.DBus',
                '/org/freedesktop/DBus', 'org.freedesktop.DBus.GetNameOwner', 'string:' + name])
            self.node.note(where, 'BusName', 'dbus-send(1) asks for the name; the bus starts nothing here')
        else:
            self.reader.leave_out(where, 'it counts as ready when it is started')

    # --- Restarts ---

    def put_restart(self):
        reader, values = self.reader, self.values
        option = reader.option('Restart')
        word = option.value if option else 'no'
        delay, delay_max = reader.span('RestartSec', 100000), reader.span('RestartMaxDelaySec')
        limit = self.restart_limit()
        prevent = reader.option('RestartPreventExitStatus')
        statuses = self.statuses('SuccessExitStatus')
        if word == 'no' or word not in ('always', 'on-success', 'on-failure', 'on-abnormal', 'on-abort',
                                        'on-watchdog'):
            if word != 'no':
                reader.leave_out(option, IGNORED)
            word = 'never'
        elif word == 'on-success':
            reader.leave_out(option, 'restart is for failures, or always')
            word = 'never'
        elif word not in ('always', 'on-failure'):
            self.node.note(option, 'Restart', 'restart = on-failure also restarts after an exit status')
            word = 'on-failure'
        if self.is_oneshot() and word == 'always':
            self.node.note(option, 'Restart', 'a oneshot is restarted after a failure only')
            word = 'on-failure'
        if word != 'never' and limit == 'never':
            word = limit = 'never'
        if word != ('never' if self.is_oneshot() else 'on-failure'):
            values['restart'] = Text(word)
        if word != 'never':
            values['restart-delay'] = Text(span_text(min(delay, INFINITY - 1)))
            values['restart-delay-max'] = Text(span_text(max(delay, delay_max or 0)))
            values['restart-limit'] = Text(limit)
        if prevent and word != 'never':
            statuses += self.statuses('RestartPreventExitStatus')
            self.node.note(prevent, 'RestartPreventExitStatus', 'such an end counts as a clean one')
        if statuses:
            values['success-status'] = Words(dict.fromkeys(statuses))
        self.put_failure()

    def restart_limit(self):
        """systemd counts starts, with the first; restart-limit counts failures before the last one."""
        unit = Reader(self.unit, 'Unit', self.node)
        readers = (unit, self.reader)  # [Service] has them in old units
        burst, interval = 5, 10000000
        for reader in readers:
            burst = reader.number('StartLimitBurst', burst, 0, 1 << 31)
            interval = reader.span('StartLimitInterval', interval)
            interval = reader.span('StartLimitIntervalSec', interval)
        if not burst or not interval or burst > 1001:
            return 'none'
        if interval >= INFINITY:
            interval = 365 * 86400000000
        return '%d/%s' % (burst - 1, span_text(interval)) if burst > 1 else 'never'

    def statuses(self, key):
        found = []
        for option in self.reader.words(key):
            word = option.value
            if re.fullmatch('[0-9]{1,3}', word) and int(word) < 256:
                found.append(word.lstrip('0') or '0')
            elif word in EXITS:
                found.append(str(EXITS[word]))
            else:
                name = self.reader.attempt(option, read_signal, word)
                if name:
                    found.append('SIG' + name if not name.isdigit() else name)
        return [word for word in found if word != '0']

    def put_failure(self):
        unit = Reader(self.unit, 'Unit', self.node)
        option = unit.option('FailureAction') or self.reader.option('FailureAction')
        self.reader.asked.add('FailureAction')
        if option and option.value.startswith('exit'):
            self.values['on-failed'] = Text('shutdown')
        elif option and option.value != 'none':
            unit.leave_out(option, 'on-failed ends swansongd, not the machine')
        option = unit.option('SuccessAction')
        if option and option.value.startswith('exit'):
            self.values['essential'] = Text('yes')
            self.node.note(option, 'SuccessAction', 'a failure shuts the tree down, too')
        elif option and option.value != 'none':
            unit.leave_out(option, 'essential ends swansongd, not the machine')

    # --- Times ---

    def put_times(self):
        reader, values = self.reader, self.values
        both = reader.span('TimeoutSec')
        start = reader.span('TimeoutStartSec', both)
        stop = reader.span('TimeoutStopSec', both)
        if start is None and self.is_oneshot():
            start = 0
        if start is not None:
            values['start-timeout'] = Text(span_text(start or INFINITY))
        if stop is not None:
            self.stop_usec = stop or INFINITY
            self.stop_is_given = True
            values['stop-timeout'] = Text(span_text(self.stop_usec))
        if not reader.boolean('SendSIGKILL', True):
            self.stop_usec = INFINITY
            values['stop-timeout'] = Text('infinity')
        watchdog = reader.span('WatchdogSec', 0)
        if watchdog and watchdog < INFINITY:
            values['watchdog'] = Text(span_text(watchdog))
        if reader.option('WatchdogSignal'):
            name = reader.convert('WatchdogSignal', 'ABRT', read_signal)
            if name != 'ABRT':
                values['watchdog-signal'] = Text(name)
        store = reader.number('FileDescriptorStoreMax', 0, 0, 1 << 31)
        if store:
            values['fd-store-max'] = Text(str(min(store, 250)))
            if store > 250:
                self.node.note(reader.option('FileDescriptorStoreMax'), 'FileDescriptorStoreMax',
                               '250 is the most')

    def stop_seconds(self):
        """For the sum of a shutdown; the default is for all, and a shutdown has one of its own."""
        return seconds_of(self.stop_usec) if self.stop_is_given else 0

    # --- The stop ---

    def put_stop(self):
        reader, values = self.reader, self.values
        name = reader.convert('KillSignal', 'TERM', read_signal)
        if self.commands.stop_signal and not reader.option('KillSignal'):
            name = self.commands.stop_signal
        if name != 'TERM':
            values['stop-signal'] = Text(name)
        mode = reader.get('KillMode', 'control-group')
        option = reader.option('KillMode')
        if mode in ('mixed', 'process', 'none'):
            values['signal-scope'] = Text('main')
            if mode != 'mixed':
                values['kill-leftovers'] = Text('no')
            if mode == 'none':
                reader.leave_out(option, 'the main process gets its stop-signal')
        elif mode != 'control-group':
            reader.leave_out(option, IGNORED)
        elif not self.is_oneshot():
            values['signal-scope'] = Text('main' if self.commands.stop_signal else 'all')
        final = reader.convert('FinalKillSignal', 'KILL', read_signal)
        if final != 'KILL':
            values['kill-signal'] = Text(final)

    # --- Rights ---

    def get_user(self):
        """The user as a name or a number; None for that of swansongd."""
        reader = self.reader
        option = reader.option('User')
        user = reader.expanded('User')
        self.dynamic = reader.boolean('DynamicUser')
        if option and not user:
            raise Refused(option, 'without its user it would have more rights')
        if self.dynamic and (not user or (not has_mark(user) and not account(user))):
            return self.dynamic_user(user)
        if user in (None, 'root', '0'):
            return None
        if not has_mark(user) and not is_account(user):
            raise Refused(option, 'not the name of a user: it would have more rights without it')
        return user

    def values_group(self):
        """The group of directories that are made for the service."""
        group = self.reader.expanded('Group')
        number = self.account.isdigit() and self.dynamic
        if group and is_account(group) and not (number and not account(group)):
            return group
        found = account(self.account)
        return str(found.pw_gid) if found else self.account

    def dynamic_user(self, user):
        """A number of its own, as systemd takes it from the name; it has no entry among the users."""
        name = user or self.unit.name.prefix
        least, most = DYNAMIC
        number = least + zlib.crc32(name.encode()) % (most - least + 1)
        self.node.note(self.reader.option('DynamicUser'), 'DynamicUser',
                       'user and group have the number %d, which no account has: add a user for it' % number)
        return str(number)

    def put_rights(self):
        reader, values = self.reader, self.values
        group = reader.expanded('Group')
        option = reader.option('Group')
        if self.user:
            values['user'] = Text(self.user)
        if group and not has_mark(group) and not is_account(group):
            raise Refused(option, 'not the name of a group')
        if group and group not in ('root', '0') or group and self.user:
            if not (self.dynamic and self.user and self.user.isdigit() and not account(group)):
                values['group'] = Text(group)
        if self.user and self.user.isdigit() and 'group' not in values:
            values['group'] = Text(self.user)
        if self.account and not self.user:
            values.pop('group', None)
            values['notify-user'] = Text(self.account)
        groups = [o.value for o in reader.words('SupplementaryGroups') if is_account(o.value)]
        if groups:
            values['groups'] = Words(dict.fromkeys(groups))
        if reader.boolean('NoNewPrivileges'):
            values['no-new-privileges'] = Text('yes')
        self.put_capabilities()
        option, root = reader.option('RootDirectory'), reader.expanded('RootDirectory')
        if root and not is_path(root):
            reader.leave_out(option, 'not a path that can be written')
        elif root and root != '/':
            values['root-directory'] = Text(root, path=True)
        put_sandbox(self)
        mask = reader.convert('UMask', None, read_mode)
        if mask:
            values['umask'] = Text(mask)

    def put_capabilities(self):
        ambient, bounding = self.capabilities('AmbientCapabilities'), self.capabilities('CapabilityBoundingSet')
        bound = self.reader.option('CapabilityBoundingSet')
        if bounding is None and self.unit.by_key.get(('Service', 'CapabilityBoundingSet')) and not bound:
            bounding, bound = [], self.unit.by_key['Service', 'CapabilityBoundingSet'][-1]
        if self.user and ambient:
            given = ambient if bounding is None else [c for c in ambient if c in bounding]
            self.values['capabilities'] = Words(given or ['none'])
            if bounding and set(bounding) - set(ambient):
                self.node.note(bound, 'CapabilityBoundingSet', 'it has those of capabilities alone')
        elif not self.user and bounding is not None:
            self.values['capabilities'] = Words(bounding or ['none'])
        elif self.user and bounding == []:
            self.values['capabilities'] = Words(['none'])
        elif self.user and bounding is not None:
            self.node.leave_out(bound, 'CapabilityBoundingSet', 'capabilities would give them to the user: '
                                'no-new-privileges, or capabilities = none, where it executes no program '
                                'with rights of its own')

    def capabilities(self, key):
        """Names, or None without the key; an assignment that begins with ~ removes."""
        found = None
        for option in self.reader.options(key):
            words = option.value.removeprefix('~').split()
            names = []
            for word in words:
                name = word.lower().removeprefix('cap_')
                if name in CAPABILITIES:
                    names.append('cap_' + name)
                else:
                    self.node.leave_out(option, key, '%s is not a capability that is known here' % word)
            if option.value.startswith('~'):
                base = ['cap_' + c for c in CAPABILITIES] if found is None else found
                found = [c for c in base if c not in names]
            else:
                found = list(dict.fromkeys((found or []) + names))
        return found

    # --- Limits ---

    def put_limits(self):
        reader, values = self.reader, self.values
        for key, name in LIMITS.items():
            if reader.option(key):
                text = reader.convert(key, None, limit_text, name[6:])
                if text:
                    values[name] = Text(text)
        for key, name, least, most in (('Nice', 'nice', -20, 19),
                                       ('OOMScoreAdjust', 'oom-score-adjust', -1000, 1000)):
            number = reader.number(key, None, least, most)
            if number is not None:
                values[name] = Text(str(number))
        self.put_io()
        cpus = self.cpus()
        if cpus:
            values['cpu-affinity'] = Text(cpus)
        self.put_group()

    def put_io(self):
        option = self.reader.option('IOSchedulingClass')
        level = self.reader.number('IOSchedulingPriority', None, 0, 7)
        names = {'0': 'none', '1': 'realtime', '2': 'best-effort', '3': 'idle'}
        name = option and names.get(option.value, option.value)
        if option and name not in names.values():
            self.reader.leave_out(option, IGNORED)
        elif name in ('none', 'idle'):
            self.values['io-class'] = Text(name)
        elif name or level is not None:
            name = name or 'best-effort'
            self.values['io-class'] = Text(name if level is None else '%s:%d' % (name, level))

    def cpus(self):
        found = []
        for option in self.reader.options('CPUAffinity'):
            for word in option.value.replace(',', ' ').split():
                match = re.fullmatch(r'(\d{1,4})(?:-(\d{1,4}))?', word, re.ASCII)
                first, last = match and int(match.group(1)), match and int(match.group(2) or match.group(1))
                if not match or not first <= last < 1024:
                    self.reader.leave_out(option, 'not a list of processors from 0 to 1023')
                    return None
                found.append(str(first) if first == last else '%d-%d' % (first, last))
        return ','.join(dict.fromkeys(found))

    def put_group(self):
        reader, values = self.reader, self.values
        memory = 'MemoryMax' if reader.option('MemoryMax') else 'MemoryLimit'
        reader.asked.update(('MemoryMax', 'MemoryLimit'))
        option = reader.option(memory)
        if option and option.value != 'infinity':
            if option.value.endswith('%'):
                reader.leave_out(option, 'cgroup-memory-max is a size')
            else:
                size = reader.convert(memory, None, read_size)
                if size:
                    values['cgroup-memory-max'] = Text(str(size) if size % 1048576 else '%dM' % (size >> 20))
        option = reader.option('MemoryHigh')
        if option and option.value.endswith('%'):
            reader.leave_out(option, 'cgroup-memory-high is a size')
        elif option and option.value != 'infinity':
            size = reader.convert('MemoryHigh', None, read_size)
            if size:
                values['cgroup-memory-high'] = Text(str(size) if size % 1048576 else '%dM' % (size >> 20))
        option = reader.option('TasksMax')
        if option and option.value != 'infinity':
            if option.value.endswith('%'):
                reader.leave_out(option, 'cgroup-pids-max is a number')
            else:
                number = reader.number('TasksMax', None, 1, 1 << 31)
                if number:
                    values['cgroup-pids-max'] = Text(str(number))
        weight = self.weight()
        if weight:
            values['cgroup-cpu-weight'] = Text(str(weight))
        weight = reader.number('IOWeight', None, 1, 10000)
        if weight:
            values['cgroup-io-weight'] = Text(str(weight))

    def weight(self):
        option, shares = self.reader.option('CPUWeight'), self.reader.option('CPUShares')
        if option and option.value == 'idle':
            self.node.note(option, 'CPUWeight', '1 is the least')
            return 1
        if option:
            return self.reader.number('CPUWeight', None, 1, 10000)
        number = shares and self.reader.number('CPUShares', None, 2, 262144)
        return number and min(max(number * 100 // 1024, 1), 10000)

    def get_directory(self):
        """The working directory, or None."""
        option = self.reader.option('WorkingDirectory')
        path = self.reader.expanded('WorkingDirectory')
        if not path:
            return None
        if path.startswith('-'):
            path = path[1:]
            self.node.note(option, 'WorkingDirectory', 'a directory that is missing fails the start')
        if path == '~':
            home = account(self.user or 'root')
            if not home or has_mark(self.user):
                self.reader.leave_out(option, 'the home of the user is not known here: set directory')
                return None
            path = home.pw_dir
        if not is_path(path):
            self.reader.leave_out(option, 'not a path that can be written')
            return None
        return path


def limit_text(text, name):
    """SOFT[:HARD] in the units of limit-NAME."""
    def one(word):
        if word.strip() == 'infinity':
            return INFINITY
        if name in SIZES:
            size = read_size(word)
            return INFINITY if size is None else size
        if name == 'cpu':
            return -(-read_span(word) // 1000000)
        if name == 'rttime':
            return read_span(word, 'us')
        if name == 'nice' and word.strip()[:1] in ('+', '-'):
            return 20 - int(re.fullmatch(r'[-+]\d{1,2}', word.strip()).group())
        match = re.fullmatch(r'(\d{1,18})([KMGT]?)', word.strip(), re.ASCII)
        if not match:
            raise ValueError('not a limit')
        return int(match.group(1)) << ' KMGT'.index(match.group(2) or ' ') * 10
    try:
        found = [one(word) for word in text.split(':')]
    except AttributeError:
        raise ValueError('not a limit') from None
    if len(found) > 2 or found[0] > found[-1]:
        raise ValueError('not a limit')
    return ':'.join('infinity' if n >= INFINITY else str(n) for n in dict.fromkeys(found))
