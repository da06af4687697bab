"""A service of a compose file as the keys of a node."""

import os
import re

from . import compose_keys
from .notes import BadInput, Option
from .values import (CAPABILITIES, is_account, is_path, is_variable, read_boolean, read_number,
                     read_signal, read_size, read_span, seconds_of, span_text)
from .writer import Commands, Text, Words, loses_lines, spelled
from .yaml_nodes import Mapping, Scalar, Sequence

COMMAND = 'there is no command: it is that of the image: look for Entrypoint and Cmd in the output of ' \
          '"docker image inspect"'
LINES = 'blank lines, and lines that begin with ; or #, cannot be written'


class Service:
    def __init__(self, name, mapping, line, node, tree):
        self.name, self.mapping, self.line, self.node, self.tree = name, mapping, line, node, tree
        self.values_of = tree.values
        self.values = {}
        self.passed = []
        self.stop_usec, self.stop_signal = 10000000, 'TERM'

    def option(self, key):
        node = self.mapping.items.get(key)
        return self.values_of.option(key, self.mapping.lines.get(key, self.line), node)

    def leave_out(self, key, why, node=None):
        option = self.option(key) if node is None else self.values_of.option(key, node.line, node)
        self.node.leave_out(option, key, why)

    def get(self, key):
        """The node of a key that is not null, or None."""
        node = self.mapping.items.get(key)
        return None if node is None or node.is_null() else node

    def attempt(self, key, node, function, *arguments):
        """A value of a text, or a refusal, as compose itself refuses it."""
        text = self.values_of.text(node, key)
        try:
            return function(text, *arguments)
        except ValueError as error:
            raise BadInput('%s:%d: %s is %s: %s' % (self.values_of.path, node.line, key, error, text)) from None

    def convert(self):
        if 'extends' in self.mapping.items:
            self.values_of.refuse(self.mapping.lines['extends'], 'extends is not read: ' + compose_keys.CONFIG)
        user = self.get('user')
        if not self.put_command() or (user and not self.put_user(user)):
            self.values = {}
        else:
            for key in ('restart', 'deploy', 'scale', 'healthcheck', 'stop_signal', 'stop_grace_period', 'pre_stop',
                        'post_start', 'environment', 'env_file', 'working_dir', 'profiles', 'ulimits', 'cap_add',
                        'group_add', 'oom_score_adj', 'mem_limit', 'pids_limit', 'cpu_shares', 'cpuset',
                        'security_opt', 'tmpfs', 'logging'):
                node = self.get(key)
                if node is not None:
                    getattr(self, 'put_' + key)(node)
            if self.get('cap_drop') is not None and self.get('cap_add') is None:
                self.put_cap_add(Sequence(self.line))
            if not user and self.has_image():
                self.node.note(self.option('image'), 'user', 'the USER of the image, if it has one, is not known '
                               'here: the user of swansongd')
            self.values.setdefault('restart', Text('never'))
            self.values['signal-scope'] = Text('main')
            if self.is_oneshot():
                self.make_oneshot()
        self.leave_out_rest()

    def has_image(self):
        return 'image' in self.mapping.items or 'build' in self.mapping.items

    def is_oneshot(self):
        return self.name in self.tree.completed

    def make_oneshot(self):
        """Others wait for its end."""
        values = self.values
        values['type'] = Text('oneshot')
        values['start-timeout'] = Text('infinity')
        for key in ('ready', 'health', 'health-interval', 'health-timeout', 'health-retries', 'on-unhealthy',
                    'signal-scope'):
            values.pop(key, None)
        if values['restart'].plain == 'always':
            self.node.note(self.option('restart'), 'restart', 'a oneshot is restarted after a failure only')
            values['restart'] = Text('on-failure')

    # --- The command ---

    def put_command(self):
        entry, command = self.get('entrypoint'), self.get('command')
        if entry is None and command is None:
            self.leave_out('image' if 'image' in self.mapping.items else 'build', COMMAND)
            return False
        words = [] if entry is None else self.values_of.words(entry, 'entrypoint')
        if command is not None:
            words = words + self.values_of.words(command, 'command')
        if entry is None and self.has_image():
            self.node.note(self.option('command'), 'command', 'the ENTRYPOINT of the image, if it has one, comes '
                           'in front of it')
        if not words or not words[0]:
            self.values_of.refuse((entry or command).line, 'an empty command')
        self.values['command'] = Words(spelled(words))
        return True

    def put_user(self, node):
        user, _, group = self.values_of.text(node, 'user').partition(':')
        if not is_account(user) or (group and not is_account(group)):
            self.leave_out('user', 'not the name of a user: the service would have more rights without it')
            return False
        if user not in ('0', 'root'):
            self.values['user'] = Text(user)
        if group or (user.isdigit() and user != '0'):
            self.values['group'] = Text(group or user)
        return True

    # --- Restarts ---

    def put_restart(self, node):
        word, _, count = self.values_of.text(node, 'restart').partition(':')
        values = self.values
        if word in ('no', 'false'):
            values['restart'] = Text('never')
        elif word in ('always', 'unless-stopped', 'any'):
            values['restart'], values['restart-limit'] = Text('always'), Text('none')
        elif word == 'on-failure':
            values['restart'] = Text('on-failure')
            values['restart-limit'] = Text('none')
            if count:
                try:
                    number = read_number(count, 1, 1000)
                except ValueError as error:
                    self.values_of.refuse(node.line, 'restart: %s' % error)
                values['restart-limit'] = Text('%d/1h' % number)
                self.node.note(self.option('restart'), 'restart', '%d failures within an hour' % number)
        else:
            self.values_of.refuse(node.line, 'restart is none of no, always, unless-stopped and on-failure: ' + word)
        if values['restart'].plain != 'never':
            values['restart-delay-max'] = Text('1min')

    def put_deploy(self, node):
        for key, value in self.values_of.mapping(node, 'deploy').items.items():
            if value.is_null():
                continue
            if key == 'replicas':
                self.put_scale(value)
            elif key == 'restart_policy':
                self.put_policy(self.values_of.mapping(value, key))
            elif key == 'resources':
                self.put_resources(self.values_of.mapping(value, key))
            elif not (key == 'mode' and isinstance(value, Scalar) and value.value == 'replicated'):
                self.leave_out('deploy', '%s: it is a setting of a cluster' % key, value)

    def put_policy(self, node):
        words = {'none': 'no', 'on-failure': 'on-failure', 'any': 'always'}
        condition = node.items.get('condition')
        word = self.values_of.text(condition, 'condition') if condition else 'any'
        if word not in words:
            self.values_of.refuse(condition.line, 'condition is none of none, on-failure and any')
        self.put_restart(Scalar(node.line, words[word]))
        if word == 'none':
            return
        if 'delay' in node.items:
            delay = span_text(self.attempt('delay', node.items['delay'], read_span))
            self.values['restart-delay'] = self.values['restart-delay-max'] = Text(delay)
        if 'max_attempts' in node.items:
            number = self.attempt('max_attempts', node.items['max_attempts'], read_number, 0, 1000)
            window = self.attempt('window', node.items['window'], read_span) if 'window' in node.items else 0
            self.values['restart-limit'] = Text('%d/%s' % (number, span_text(window or 3600000000))
                                                if number else 'none')

    def put_scale(self, node):
        number = self.attempt('replicas', node, read_number, 0, 10000)
        if number == 0:
            self.values['autostart'] = Text('no')
            self.node.note(self.option('deploy'), 'replicas', 'no container: it is not started')
        elif number > 1 and self.node.name.endswith('@'):
            self.node.instances = [str(number)]

    # --- Health ---

    def put_healthcheck(self, node):
        values_of = self.values_of
        items = values_of.mapping(node, 'healthcheck').items
        if 'disable' in items and self.attempt('disable', items['disable'], read_boolean):
            return
        test = items.get('test')
        if test is None or test.is_null():
            self.leave_out('healthcheck', 'there is no test: it is that of the image')
            return
        words = [values_of.text(item, 'test') for item in test.items] if isinstance(test, Sequence) else \
            ['CMD-SHELL', values_of.text(test, 'test')]
        kind, words = words[0] if words else 'NONE', words[1:]
        if kind == 'NONE':
            return
        if kind not in ('CMD', 'CMD-SHELL') or not words or not words[0] or (kind != 'CMD' and len(words) > 1):
            values_of.refuse(test.line, 'test does not begin with NONE, CMD or CMD-SHELL')
        words = ['/bin/sh', '-c', words[0]] if kind == 'CMD-SHELL' else words
        words = spelled(words)
        check = Words(['exec:' + words[0]] + words[1:])
        interval, timeout = self.health_span(items, 'interval', 30), self.health_span(items, 'timeout', 30)
        retries = self.attempt('retries', items['retries'], read_number, 0, 1000) if 'retries' in items else 3
        self.values.update({
            'health': check, 'health-interval': Text(span_text(interval)), 'health-timeout': Text(span_text(timeout)),
            'health-retries': Text(str(retries or 3)), 'on-unhealthy': Text('log')})
        period = self.health_span(items, 'start_period', 0)
        if self.name in self.tree.healthy:
            self.values['ready'] = check
            start = span_text(period + (retries or 3) * (interval + timeout))
            self.values['start-timeout'] = Text(start)
            self.node.note(self.option('healthcheck'), 'healthcheck', 'a service that is not healthy after %s has '
                           'failed to start, and is ended' % start)
        elif period:
            self.node.note(values_of.option('start_period', node.lines['start_period']), 'start_period',
                           'checks count from the start on: health-retries')
        if 'start_interval' in items:
            self.leave_out('healthcheck', 'start_interval: one interval is for all checks', items['start_interval'])

    def health_span(self, items, key, default):
        if key not in items or items[key].is_null():
            return default * 1000000
        usec = self.attempt(key, items[key], read_span)
        return max(min(usec, 1 << 52), 10000 if key != 'start_period' else 0)

    # --- The stop ---

    def put_stop_signal(self, node):
        self.stop_signal = self.attempt('stop_signal', node, read_signal)
        if self.stop_signal != 'TERM':
            self.values['stop-signal'] = Text(self.stop_signal)

    def put_stop_grace_period(self, node):
        self.stop_usec = self.attempt('stop_grace_period', node, read_span)
        self.values['stop-timeout'] = Text(span_text(self.stop_usec))

    def put_pre_stop(self, node):
        commands = self.hooks(node, 'pre_stop')
        if commands:
            # The signal, which a stop-command takes the place of.
            kill = ['/bin/sh', '-c', 'kill -s %s "$MAINPID" 2>/dev/null || :' % self.stop_signal]
            self.values['stop-command'] = Commands(commands + [kill])

    def put_post_start(self, node):
        commands = self.hooks(node, 'post_start')
        if commands:
            self.values['post-start'] = Commands(commands)

    def hooks(self, node, key):
        found = []
        for item in node.items if isinstance(node, Sequence) else [node]:
            items = self.values_of.mapping(item, key).items
            if 'command' not in items:
                self.values_of.refuse(item.line, key + ' without a command')
            for name in items:
                if name != 'command':
                    self.leave_out(key, '%s: it runs as the service does' % name, items[name])
            words = self.values_of.words(items['command'], key)
            if words and words[0]:
                found.append(spelled(words))
        return found

    def stop_seconds(self):
        return 0 if self.is_oneshot() else seconds_of(self.stop_usec)

    # --- The environment ---

    def put_environment(self, node):
        words = []
        for name, (value, line) in self.values_of.pairs(node, 'environment').items():
            if not is_variable(name):
                self.node.leave_out(Option(self.values_of.path, line, name), 'environment', 'it cannot be set')
            elif value is not None and loses_lines(value):
                self.node.leave_out(Option(self.values_of.path, line, name), 'environment', LINES)
            elif value is None:
                self.passed.append(name)
            else:
                words.append('%s=%s' % (name, value))
        if words:
            self.values['environment'] = Words(words)
        if self.passed:
            self.values['environment-pass'] = Words(dict.fromkeys(['PATH', 'LANG'] + self.passed))

    def put_env_file(self, node):
        found = []
        for item in node.items if isinstance(node, Sequence) else [node]:
            required = True
            if isinstance(item, Mapping):
                its = item.items
                required = self.attempt('required', its['required'], read_boolean) if 'required' in its else True
                if 'path' not in its:
                    self.values_of.refuse(item.line, 'env_file without a path')
                item = its['path']
            path = os.path.normpath(os.path.join(self.values_of.folder, self.values_of.text(item, 'env_file')))
            if not is_path(path) or len(path.split()) != 1:
                self.leave_out('env_file', 'not a path that can be written', item)
                continue
            found.append(path if required else '-' + path)
        if found:
            self.values['environment-file'] = Words(dict.fromkeys(found))

    def put_working_dir(self, node):
        path = self.values_of.text(node, 'working_dir')
        if is_path(path):
            self.values['directory'] = Text(path, path=True)
        else:
            self.leave_out('working_dir', 'not an absolute path that can be written')

    def put_profiles(self, node):
        names = [text for text, _ in self.values_of.texts(node, 'profiles')]
        if names:
            self.values['autostart'] = Text('no')
            self.node.note(self.option('profiles'), 'profiles', 'started by its name: ' + ', '.join(names))

    # --- Limits and rights ---

    def put_ulimits(self, node):
        for name, value in self.values_of.mapping(node, 'ulimits').items.items():
            if name not in compose_keys.LIMITS:
                self.leave_out('ulimits', '%s is not known here' % name, value)
                continue
            parts = [value]
            if isinstance(value, Mapping):
                parts = [value.items[key] for key in ('soft', 'hard') if key in value.items]
            numbers = [self.attempt('ulimits', part, read_number, -1, 1 << 62) for part in parts]
            if not numbers or (numbers[-1] != -1 and numbers[0] > numbers[-1]) or (numbers[0] == -1 != numbers[-1]):
                self.values_of.refuse(value.line, 'ulimits: %s is not a limit' % name)
            self.values['limit-' + name] = Text(':'.join('infinity' if n < 0 else str(n)
                                                         for n in dict.fromkeys(numbers)))

    def put_cap_add(self, node):
        if 'user' in self.values:
            for key in ('cap_add', 'cap_drop'):
                if self.get(key) is not None:
                    self.leave_out(key, 'capabilities gives them to the user, too: see swansong.ini(5)')
            return
        found = list(compose_keys.CAPABILITIES)
        for key in ('cap_drop', 'cap_add'):
            its = self.get(key)
            for text, line in self.values_of.texts(its, key) if its is not None else ():
                name = text.lower().removeprefix('cap_')
                if name != 'all' and name not in CAPABILITIES:
                    self.node.leave_out(Option(self.values_of.path, line, text), key, 'it is not known here')
                    continue
                names = CAPABILITIES if name == 'all' else [name]
                found = [c for c in found if c not in names] + (names if key == 'cap_add' else [])
        self.values['capabilities'] = Words(['cap_' + name for name in found] or ['none'])

    def put_group_add(self, node):
        groups = [text for text, _ in self.values_of.texts(node, 'group_add') if is_account(text)]
        if groups:
            self.values['groups'] = Words(dict.fromkeys(groups))

    def put_oom_score_adj(self, node):
        self.values['oom-score-adjust'] = Text(str(self.attempt('oom_score_adj', node, read_number, -1000, 1000)))

    def put_mem_limit(self, node):
        size = self.attempt('mem_limit', node, read_size)
        if size:
            self.values['cgroup-memory-max'] = Text(str(size) if size % 1048576 else '%dM' % (size >> 20))

    def put_pids_limit(self, node):
        number = self.attempt('pids_limit', node, read_number, -1, 1 << 31)
        if number > 0:
            self.values['cgroup-pids-max'] = Text(str(number))

    def put_cpu_shares(self, node):
        number = self.attempt('cpu_shares', node, read_number, 0, 262144)
        if number:
            self.values['cgroup-cpu-weight'] = Text(str(min(max(number * 100 // 1024, 1), 10000)))

    def put_cpuset(self, node):
        text = self.values_of.text(node, 'cpuset')
        if re.fullmatch(r'\d{1,3}(-\d{1,3})?(,\d{1,3}(-\d{1,3})?)*', text, re.ASCII) and all(
                int(part.split('-')[0]) <= int(part.split('-')[-1]) for part in text.split(',')):
            self.values['cpu-affinity'] = Text(text)
        else:
            self.leave_out('cpuset', 'not a list of processors')

    def put_resources(self, node):
        for kind, value in node.items.items():
            for key, its in self.values_of.mapping(value, kind).items.items() if not value.is_null() else ():
                if kind == 'limits' and key == 'memory':
                    self.put_mem_limit(its)
                elif kind == 'limits' and key == 'pids':
                    self.put_pids_limit(its)
                else:
                    self.leave_out('deploy', '%s of %s: %s' % (key, kind, compose_keys.LIMIT), its)

    def put_security_opt(self, node):
        for text, line in self.values_of.texts(node, 'security_opt'):
            if re.fullmatch('no-new-privileges([:=]true)?', text):
                self.values['no-new-privileges'] = Text('yes')
            elif not re.fullmatch('no-new-privileges[:=]false', text):
                self.node.leave_out(Option(self.values_of.path, line, text), 'security_opt', compose_keys.SANDBOX)

    def put_tmpfs(self, node):
        for text, line in self.values_of.texts(node, 'tmpfs'):
            if text.split(':')[0].rstrip('/') == '/tmp':
                self.values['private-tmp'] = Text('yes')
            else:
                self.node.leave_out(Option(self.values_of.path, line, text), 'tmpfs', compose_keys.FILES)

    def put_logging(self, node):
        items = self.values_of.mapping(node, 'logging').items
        driver = self.values_of.text(items['driver'], 'driver') if 'driver' in items else 'json-file'
        places = {'none': 'null', 'journald': 'journal', 'syslog': 'syslog'}
        if driver in places:
            self.values['log'] = Text(places[driver])
        elif driver not in ('json-file', 'local'):
            self.leave_out('logging', 'driver: it goes where the output of each service goes', items['driver'])
        options = items.get('options')
        if options is not None and not options.is_null():
            self.leave_out('logging', 'options: see log, log-size and log-keep in swansong.ini(5)', options)

    # --- The others ---

    def leave_out_rest(self):
        known = {'command', 'entrypoint', 'depends_on', 'user', 'cap_drop'}
        for key, node in self.mapping.items.items():
            if key in known or hasattr(self, 'put_' + key) or key.startswith('x-') or key in compose_keys.SILENT:
                continue
            if node.is_null() or (isinstance(node, Scalar) and node.value == compose_keys.OFF.get(key)):
                continue
            why = compose_keys.SERVICE.get(key, 'it is not a key of a service that is known here')
            if key == 'image' and not self.values:
                continue
            if isinstance(node, Sequence) and node.items:
                for item in node.items:
                    self.node.leave_out(self.values_of.option(key, item.line, item), key, why)
            else:
                self.leave_out(key, why)
