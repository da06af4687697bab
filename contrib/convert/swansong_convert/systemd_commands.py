"""The commands of a unit with their environment: hooks, prefixes, variables, directories made before.

A hook runs as the service does.  What has to be done as root before the start of a service of another user is
a oneshot of its own, NAME-setup, which the service requires.
"""

import glob
import os
import re
import shlex

from .files import is_file, read_text
from .notes import BadInput
from .systemd_reader import Reader, Refused
from .systemd_words import kill_signal_of, read_commands
from .values import is_path, is_variable, read_mode, read_signal
from .writer import Commands as Lines
from .writer import Text, Words, loses_lines, spelled

DIRECTORIES = (('Runtime', '/run'), ('State', '/var/lib'), ('Cache', '/var/cache'), ('Logs', '/var/log'),
               ('Configuration', '/etc'))
KEYS = {'Runtime': 'runtime-directory', 'State': 'state-directory', 'Cache': 'cache-directory',
        'Logs': 'log-directory'}
CREDENTIAL = re.compile(r'[A-Za-z0-9_@-][A-Za-z0-9._@-]*:/[^\s\'"\\:]+')
# The option of test(1) for what a condition asks of a path.
TESTS = {'PathExists': '-e', 'PathIsDirectory': '-d', 'PathIsSymbolicLink': '-L', 'FileNotEmpty': '-s',
         'FileIsExecutable': '-x'}
# Variables that the command has without a line of the unit.
GIVEN = {'MAINPID', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'PATH', 'LANG', 'NOTIFY_SOCKET', 'LISTEN_FDS',
         'LISTEN_PID', 'LISTEN_FDNAMES', 'WATCHDOG_USEC', 'SERVICE_RESULT', 'EXIT_CODE', 'EXIT_STATUS'}
LINES = 'blank lines, and lines that begin with ; or #, cannot be written'
LATER = 'a value in the file has no effect here, as environment takes precedence'


def keeps_rights(command):
    """Returns true for the prefixes + and !, with which a command is one of root."""
    return command.has('+') or (command.has('!') and command.prefixes.count('!') == 1)


def is_main_privileged(reader):
    option = reader.option('ExecStart')
    try:
        return option is not None and any(map(keeps_rights, read_commands(option, reader.specifiers)))
    except ValueError:
        return False


class Commands:
    """All of this of one service."""

    def __init__(self, service):
        self.service = service
        self.reader, self.node, self.values = service.reader, service.node, service.values
        self.setup = []  # commands as root
        self.given = {}  # variables of swansongd
        self.hooks = {'start-command': [], 'post-start': [], 'reload-command': [], 'stop-command': [],
                      'post-stop': []}
        self.stop_signal = None

    def put(self):
        self.put_environment()
        self.put_directories()
        self.put_conditions()
        self.put_credentials()
        self.put_starts()
        self.put_reload()
        self.put_stops()
        for key, commands in self.hooks.items():
            if commands:
                self.values[key] = Lines(map(spelled, commands))

    # --- The environment ---

    def put_environment(self):
        reader = self.reader
        self.environment, self.passed, self.files = {}, [], []
        for option in reader.words('Environment'):
            name, equals, value = option.value.partition('=')
            if not equals or not is_variable(name):
                reader.leave_out(option, 'not NAME=VALUE of a variable that can be set')
            elif loses_lines(value):
                reader.leave_out(option, LINES)
            else:
                self.environment[name] = (value, option)
        for option in reader.words('PassEnvironment'):
            if is_variable(option.value):
                self.passed.append(option.value)
        self.put_files()
        for option in reader.words('UnsetEnvironment'):
            self.environment.pop(option.value.partition('=')[0], None)
            if self.files:
                reader.leave_out(option, 'a file of environment-file may still set it')
        if self.passed:
            self.values['environment-pass'] = Words(dict.fromkeys(['PATH', 'LANG'] + self.passed))

    def put_files(self):
        reader = self.reader
        for option in reader.options('EnvironmentFile'):
            text = reader.attempt(option, reader.specifiers.expand, option.value)
            optional = text and text.startswith('-')
            path = text and text.removeprefix('-').strip()
            if not path:
                continue
            if not is_path(path) or len(path.split()) != 1:
                reader.leave_out(option, 'not an absolute path that can be written')
                continue
            paths = [path]
            if re.search('[*?[]', os.path.dirname(path)):
                reader.leave_out(option, 'a pattern for folders')
                continue
            if re.search('[*?[]', path):
                paths = sorted(glob.glob(path))[:1000]
                self.node.note(option, 'EnvironmentFile', 'the files that match now')
            for path in paths:
                self.look_at_file(path, option)
                self.files.append('-' + path if optional else path)
        if self.files:
            self.values['environment-file'] = Words(dict.fromkeys(self.files))

    def look_at_file(self, path, option):
        """The files of systemd override its Environment=; here it is the other way round."""
        names = set()
        try:
            if is_file(path):
                names = set(re.findall(r'^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=', read_text(path),
                                       re.MULTILINE))
        except (OSError, BadInput):
            pass
        for name in [name for name in self.environment if name in names]:
            self.node.note(option, 'Environment', '%s is that of the file' % name)
            del self.environment[name]
        if self.environment:
            self.node.note(option, 'Environment', '%s: %s' % (' '.join(self.environment), LATER))

    # --- Directories ---

    def put_directories(self):
        """Keys, unless commands of root need the directories before the service starts, or systemd keeps them."""
        reader, service = self.reader, self.service
        early = any(re.match('[-@:|]*[+!]', option.value) for option in reader.options('ExecStartPre'))
        early = early or (service.account and not service.user)
        owner = ['-o', service.account, '-g', service.values_group()] if service.account else []
        for kind, folder in DIRECTORIES:
            key = kind + 'Directory'
            mode = reader.convert(key + 'Mode', '0755', read_mode, 0o7777)
            names = self.directory_names(key, folder)
            if not names:
                continue
            paths = ['%s/%s' % (folder, name) for name in names]
            stays = kind == 'Runtime' and reader.get('RuntimeDirectoryPreserve', 'no') == 'yes'
            if kind in KEYS and not early and not stays:
                self.values[KEYS[kind]] = Words(name if int(mode, 8) == 0o755 else '%s:%s' % (name, mode)
                                                for name in names)
                self.given[kind.upper() + '_DIRECTORY'] = ':'.join(paths)
                continue
            self.make(paths, mode, owner if kind != 'Configuration' else [])
            self.environment.setdefault(kind.upper() + '_DIRECTORY', (':'.join(paths), reader.option(key)))
            if kind == 'Runtime' and not stays:
                self.node.note(reader.option(key), key, 'made before the start, and not removed by a stop')
        if reader.get('RuntimeDirectoryPreserve', 'no') == 'restart' and 'runtime-directory' in self.values:
            self.node.note(reader.option('RuntimeDirectoryPreserve'), 'RuntimeDirectoryPreserve',
                           'a restart makes an empty one')
        if self.environment:
            self.values['environment'] = Words(
                '%s=%s' % (name, value) for name, (value, _) in self.environment.items())

    def directory_names(self, key, folder):
        names = []
        for option in self.reader.words(key):
            name = option.value.split(':')[0]
            if not is_path('%s/%s' % (folder, name)) or name.startswith('/') or \
                    not all(part.strip('.') or len(part) > 2 for part in name.split('/')):
                self.reader.leave_out(option, 'not a relative path that can be written')
                continue
            if ':' in option.value:
                self.node.note(option, key, 'without the links')
            names.append(name)
        return names

    def make(self, paths, mode, owner):
        """Root follows no link that the user of the service may have put in a directory of its own."""
        inner = [path for path in paths if owner and any(path.startswith(other + '/') for other in paths)]
        outer = [path for path in paths if path not in inner]
        self.as_root(['install', '-d', '-m', mode] + owner + outer)
        if inner:
            self.hooks['start-command'].append(self.as_account() + ['mkdir', '-p', '-m', mode] + inner)

    def as_root(self, words):
        # A start-command has the limits of the service.
        if self.service.user or self.reader.get('ProtectSystem') in ('strict', 'full'):
            self.setup.append(words)
        else:
            self.hooks['start-command'].append(words)

    # --- Command lines ---

    def commands(self, key):
        found = []
        for option in self.reader.options(key):
            found += self.reader.attempt(option, read_commands, option, self.reader.specifiers) or []
        return found

    def words(self, command, ignore=False):
        """The words of a command of ours."""
        names = command.variables()
        if command.has('@'):
            self.node.leave_out(command.option, command.option.name, 'argument 0 is the program itself')
        if command.has('|'):
            self.node.note(command.option, command.option.name, 'in the shell of root')
            return ['/bin/sh', '-c', ' '.join(command.words)]
        known = {name: value for name, (value, _) in self.environment.items()}
        known.update(self.given)
        if not names or (not self.files and all(name in known for name in names)):
            try:
                words = command.plain_words(known)
            except ValueError:
                words = None
            if words is not None:
                return ['/bin/sh', '-c', '"$@" || :', 'sh'] + words if ignore else words
        for name in names:
            if name not in known and name not in GIVEN and not self.files and name not in self.passed and \
                    not name.endswith('_DIRECTORY'):
                self.node.note(command.option, command.option.name, '%s is set nowhere: empty' % name)
        script = command.script()
        return ['/bin/sh', '-fc', script + ' || :' if ignore else 'exec ' + script]

    def put_starts(self):
        starts = self.commands('ExecStart')
        option = self.reader.option('ExecStart') or self.service.unit.place()
        if not starts and self.service.kind != 'oneshot':
            raise Refused(option, 'there is no ExecStart=')
        self.hooks['start-command'] += self.tests('Assert')
        for command in self.commands('ExecStartPre'):
            self.put_hook('start-command', command, command.has('-'))
        for command in starts[:-1]:
            self.put_hook('start-command', command, command.has('-'))
        if len(starts) > 1 and self.service.kind != 'oneshot':
            raise Refused(option, 'more than one ExecStart= without Type=oneshot')
        self.put_main(starts, option)
        for command in self.commands('ExecStartPost'):
            self.put_hook('post-start', command, command.has('-'))

    def put_main(self, starts, option):
        if not starts:
            self.values['command'] = Words(['true'])
            return
        main = starts[-1]
        ignore = main.has('-')
        oneshot = self.service.kind == 'oneshot' or self.service.unit.timer
        ends = oneshot or self.service.kind == 'forking'
        if ignore and not ends:
            self.node.leave_out(option, 'ExecStart', 'the prefix -: a failure is one; see success-status')
        words = self.words(main, ignore and ends)
        members = [option for unit in self.service.tree.units.by_name.values() for option in unit.all('Unit', 'PartOf')
                   if self.service.unit.name.full in option.value.split()]
        if self.service.kind == 'oneshot' and words in (['/bin/true'], ['/usr/bin/true'], ['true']) and not members:
            self.node.note(option, 'ExecStart', 'it starts nothing itself: "systemctl show -p ConsistsOf %s" names the '
                           'units that belong to it: give these, too' % self.service.unit.name.full)
        self.values['command'] = Words(spelled(words))

    def tests(self, prefix):
        """Commands for the paths of Condition...= or Assert...=; they are done, and are left out no more."""
        unit = Reader(self.service.unit, 'Unit', self.node)
        found = []
        for key, flag in TESTS.items():
            for option in unit.options(prefix + key):
                text = unit.attempt(option, unit.specifiers.expand, option.value)
                path = text and text.removeprefix('!')
                if path and is_path(path):
                    found.append(['test'] + ['!'] * text.startswith('!') + [flag, path])
                    self.service.unit.done.add(option)
        return found

    def put_conditions(self):
        """Each is a line: the service is skipped unless all of them hold."""
        found = []
        for words in self.tests('Condition'):
            negated = '!' * (words[1] == '!')
            if words[-2] == '-e':
                found.append(['%spath:%s' % (negated, words[-1])])
            else:
                found.append(['exec:test'] + words[1:])
        for option in Reader(self.service.unit, 'Unit', self.node).options('ConditionEnvironment'):
            if is_variable(option.value.removeprefix('!')):
                negated = '!' * option.value.startswith('!')
                found.append(['%senv:%s' % (negated, option.value.removeprefix('!'))])
                self.service.unit.done.add(option)
        for command in self.commands('ExecCondition'):
            if self.is_privileged(command):
                self.node.leave_out(command.option, 'ExecCondition',
                                    'it would run as the user of the service, not as root')
                continue
            words = self.as_account(command) + self.words(command, command.has('-'))
            found.append(['exec:' + words[0]] + words[1:])
        if found:
            self.values['condition'] = Lines(map(spelled, found))

    def put_credentials(self):
        found = []
        for option in self.reader.options('LoadCredential'):
            word = self.reader.attempt(option, self.reader.specifiers.expand, option.value)
            if word and CREDENTIAL.fullmatch(word):
                found.append([word])
            elif word:
                self.reader.leave_out(option, 'credential has a name and the absolute path of a file without blanks')
        if found:
            self.values['credential'] = Lines(map(spelled, found))

    def is_privileged(self, command):
        return self.service.user is not None and keeps_rights(command)

    def as_account(self, command=None):
        """The prefix of a command of another user than that of the main process, which is root."""
        if not self.service.account or self.service.user or (command and keeps_rights(command)):
            return []
        return ['setpriv', '--reuid=' + self.service.account, '--regid=' + self.service.values_group(),
                '--init-groups']

    def put_hook(self, key, command, ignore=False):
        if not self.is_privileged(command):
            self.hooks[key].append(self.as_account(command) + self.words(command, ignore))
        elif key == 'start-command':
            self.node.note(command.option, command.option.name,
                           'as root, once before the first start: see the node %s-setup' % self.node.name)
            self.setup.append(self.words(command, ignore))
        else:
            self.node.leave_out(command.option, command.option.name,
                                'it would run as the user of the service, not as root')

    def put_reload(self):
        commands = self.commands('ExecReload')
        if len(commands) == 1 and kill_signal_of(commands[0]):
            option = commands[0].option
            name = self.reader.attempt(option, read_signal, kill_signal_of(commands[0]))
            if name and name != 'HUP':
                self.values['reload-signal'] = Text(name)
            return
        for command in commands:
            self.put_hook('reload-command', command, command.has('-'))
        if self.hooks['reload-command']:
            self.values.pop('reload-signal', None)
        for command in self.commands('ExecReloadPost'):
            self.put_hook('reload-command', command, command.has('-'))

    def put_stops(self):
        commands = self.commands('ExecStop')
        if len(commands) == 1 and kill_signal_of(commands[0]):
            option = commands[0].option
            self.stop_signal = self.reader.attempt(option, read_signal, kill_signal_of(commands[0]))
            self.node.note(option, 'ExecStop', 'it is the stop-signal, and all of stop-timeout follows')
            commands = []
        for command in commands:
            self.put_hook('stop-command', command, command.has('-'))
        if self.hooks['stop-command'] and self.service.kind != 'oneshot' and not self.service.unit.timer:
            # The signal that systemd sends when the command has ended, and something runs still.
            name = self.reader.convert('KillSignal', 'TERM', read_signal)
            self.hooks['stop-command'].append(
                ['/bin/sh', '-c', 'kill -s %s "$MAINPID" 2>/dev/null || :' % name])
        for command in self.commands('ExecStopPost'):
            self.put_hook('post-stop', command)

    def setup_values(self):
        """The oneshot that has to run before, or None."""
        if not self.setup:
            return None
        values = {'type': Text('oneshot'), 'start-timeout': Text('infinity'), 'autostart': Text('no')}
        if len(self.setup) > 1:
            values['start-command'] = Lines(map(spelled, self.setup[:-1]))
        values['command'] = Words(spelled(self.setup[-1]))
        for key in ('environment', 'environment-file', 'environment-pass'):
            if key in self.values:
                values[key] = self.values[key]
        return values
