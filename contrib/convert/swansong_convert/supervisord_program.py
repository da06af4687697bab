"""A program of supervisord: a node, or a template with instances."""

import re
import shlex

from .notes import BadInput, Option, Section
from .supervisord import FALSE, TRUE, Reader, expand, pairs, path_value, signal_name
from .writer import MARK, Node, Text, Words, loses_lines, size_text

KEEP_MAX = 9999
PROCESSES_MAX = 1000
ROTATION = 'log-size and log-keep are the same for both files'
NO_EVENTS = 'there are no events'
UNKNOWN = 'supervisord itself does not know it'
SPEC = re.compile(r'%\(process_num\)[-#0 +]*\d*(?:\.\d+)?[a-zA-Z]')
DAEMON = {'/dev/stdout': 1, '/dev/fd/1': 1, '/proc/self/fd/1': 1,
          '/dev/stderr': 2, '/dev/fd/2': 2, '/proc/self/fd/2': 2}


class Program:
    """What one section with a command comes to, in one group."""

    def __init__(self, section, path, group, common):
        self.section, self.path, self.common = section, path, common
        self.program = section.name.split(':', 1)[1].strip()
        self.names = dict(common.names, program_name=self.program, group_name=group)
        self.priority = Reader(section, self.names).number('priority', 999)
        self.stop_seconds = 10
        self.node = Node(path, section.name, common.report)
        self.node.note_name(section, self.program)

    def convert(self):
        reader = Reader(self.section, self.names)
        count, first = reader.number('numprocs', 1), reader.number('numprocs_start', 0)
        if count > PROCESSES_MAX:
            option = self.section['numprocs']
            raise BadInput('%s:%d: numprocs is %d: expected %d at most' %
                           (option.file, option.line, count, PROCESSES_MAX))
        numbers = range(first, first + count)
        reader.names['numprocs'] = count
        self.look_at_name(count)
        if count < 1:
            self.node.leave_out(self.section['numprocs'], 'numprocs', 'the program never runs')
        elif count == 1:
            self.node.values = self.values(numbers[0], None)
        else:
            self.make_template(numbers)
        self.leave_out_rest()

    def look_at_name(self, count):
        option = self.section.get('process_name')
        text = option.value if option else '%(program_name)s'
        if count > 1 and not SPEC.search(text.replace('%%', '')):
            where = option or self.section
            raise BadInput('%s:%d: process_name needs %%(process_num)d, as numprocs is %d' %
                           (where.file, where.line, count))
        rest = re.sub(r'%\((program_name|group_name|process_num)\)[-0-9]*[a-z]', '', text)
        if re.search('[A-Za-z0-9]', rest.replace(self.program, '')):
            self.node.note(option, 'process_name', 'the node has the name of the program')

    def make_template(self, numbers):
        """Values that differ in more than the name of the instance get sections of their own."""
        option = self.section['process_name']
        for number in numbers:
            expand(option, dict(self.names, process_num=number, numprocs=len(numbers)))
        spec = SPEC.search(option.value.replace('%%', '')).group()
        names = [spec % {'process_num': number} for number in numbers]
        if len(set(names)) < len(names) or not all(re.fullmatch('[A-Za-z0-9_-]+', n) for n in names):
            names = [str(number) for number in numbers]
        self.path += '@'
        self.node.name = self.path
        self.node.instances = names
        if names == [str(i + 1) for i in range(len(names))]:
            self.node.instances = [str(len(names))]
        exact = {name: self.values(number, None) for number, name in zip(numbers, names)}
        self.node.put_instances(self.values(numbers[0], dict(zip(numbers, names))), exact)

    def marked(self, text, names):
        """Puts the mark where a number is written as it is in the names of all instances."""
        def mark(match):
            spec = match.group()
            if spec != '%%' and all(spec % {'process_num': n} == i for n, i in names.items()):
                return MARK
            return spec
        return re.sub('%%|' + SPEC.pattern, mark, text) if names else text

    def values(self, number, instances):
        """The values of process @number; or of the template, if there are @instances."""
        section = Section(self.section.name, self.section.file, self.section.line)
        for name, option in self.section.items():
            section[name] = Option(option.file, option.line, self.marked(option.value, instances))
        reader = Reader(section, dict(self.names, process_num=number),
                        instances[number] if instances else MARK)
        values = {}
        environment = self.environment(reader)
        self.put_command(reader, values)
        self.put_start(reader, values)
        self.put_stop(reader, values)
        for key in ('user', 'umask', 'directory'):
            if key in section:
                values[key] = getattr(self, 'get_' + key)(reader)
        if environment:
            values['environment'] = Words('%s=%s' % pair for pair in environment.items())
        self.put_output(reader, values)
        self.asked = reader.asked
        return values

    def environment(self, reader):
        option = reader.section.get('environment')
        environment = pairs(option, reader.get('environment')) if option else {}
        reader.names.update(('ENV_' + name, value) for name, value in environment.items())
        for name in list(environment):
            if not re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', name) or name == 'SWANSONG_NODE':
                self.node.leave_out(option, 'environment', '%s cannot be set' % name)
                del environment[name]
        return environment

    def put_command(self, reader, values):
        text = reader.get('command')
        option = reader.section.get('command', reader.section)
        try:
            words = shlex.split(text or '')
        except ValueError as error:
            raise BadInput('%s:%d: command: %s (a value is cut at a ; or # after a blank, also '
                           'inside of quotes)' % (option.file, option.line, error)) from None
        if not words:
            raise BadInput('%s:%d: there is no command' % (option.file, option.line))
        for word in words:
            if loses_lines(word):
                self.node.note(option, 'command', 'blank lines and comments in quotes are lost')
        if self.section.name.startswith('fcgi-'):
            words = self.put_socket(reader, values, words)
        values['command'] = Words(words)

    def put_socket(self, reader, values, words):
        """A socket is descriptor 3 for us, and standard input for supervisord."""
        option = reader.section.get('socket')
        if option is None:
            raise BadInput('%s:%d: there is no socket' % (self.section.file, self.section.line))
        text = reader.get('socket')
        owner = reader.get('socket_owner', reader.get('user', ''))
        tcp = re.fullmatch(r'tcp://(localhost|[0-9.]+|\[[0-9a-f:]+\]):([\d%s]+)' % MARK, text)
        if tcp:
            socket = 'tcp:%s:%s' % tcp.groups()
        elif text.startswith('unix:///'):
            socket = 'unix:%s,mode=%s' % (text[7:], reader.mode('socket_mode', '0700'))
            for key, name in zip(('owner', 'group'), owner.split(':')):
                socket += ',%s=%s' % (key, name) if name else ''
        else:
            self.node.leave_out(option, 'socket', 'listen wants an address, not the name of a host')
            return words
        values['listen'] = Words([socket])
        return ['/bin/sh', '-c', 'unset LISTEN_FDS LISTEN_PID LISTEN_FDNAMES; '
                'exec "$@" <&3 3<&-', 'sh'] + words

    def put_start(self, reader, values):
        if not reader.boolean('autostart', True):
            values['autostart'] = Text('no')
        again = reader.get('autorestart', 'unexpected').lower()
        seconds, tries = reader.number('startsecs', 1), reader.number('startretries', 3)
        if again in TRUE or again == 'unexpected':
            if again in TRUE:
                values['restart'] = Text('always')
            self.put_limit(reader, values, seconds, tries)
        elif again in FALSE:
            values['restart'] = Text('never')
            self.leave_out_tries(reader, seconds, tries)
        else:
            option = reader.section['autorestart']
            raise BadInput('%s:%d: autorestart is neither a boolean nor unexpected: %s' %
                           (option.file, option.line, again))
        if again == 'unexpected':
            self.put_exit_codes(reader, values)
        reader.get('exitcodes')

    def put_limit(self, reader, values, seconds, tries):
        """As many tries, one second apart, for runs that are shorter than startsecs.

        So many runs of that length do not fit into the window, and go on for ever."""
        values['restart-delay'] = values['restart-delay-max'] = Text('1s')
        if tries < 1:
            self.node.leave_out(reader.section['startretries'], 'startretries',
                                'one more try is the least')
            tries = 1
        if seconds <= 0 or tries > 1000:
            values['restart-limit'] = Text('none')
        else:
            values['restart-limit'] = Text('%d/%ds' % (tries, tries * (seconds + 1)))

    def leave_out_tries(self, reader, seconds, tries):
        if seconds > 0 and tries > 0 and 'startretries' in reader.section:
            self.node.leave_out(reader.section['startretries'], 'startretries',
                                'with autorestart=false it runs once, however short')

    def put_exit_codes(self, reader, values):
        codes = reader.convert('exitcodes', [0], 'a list of exit statuses',
                               lambda text: [int(code) for code in text.split(',') if text])
        if 0 not in codes:
            self.node.leave_out(reader.section['exitcodes'], 'exitcodes', 'status 0 is no failure')
        others = [str(code) for code in codes if code != 0]
        if others:
            values['success-status'] = Words(others)

    def put_stop(self, reader, values):
        name = reader.convert('stopsignal', 'TERM', 'a signal', signal_name)
        self.stop_seconds = reader.number('stopwaitsecs', 10)
        if name != 'TERM':
            values['stop-signal'] = Text(name)
        if 'stopwaitsecs' in reader.section:
            values['stop-timeout'] = Text('%ds' % self.stop_seconds if self.stop_seconds > 0 else '0')
        whole = reader.boolean('stopasgroup', False)
        if not whole:
            values['signal-scope'] = Text('main')
        if not reader.boolean('killasgroup', whole) and whole:
            option = reader.section['killasgroup']
            raise BadInput('%s:%d: stopasgroup without killasgroup is refused by supervisord' %
                           (option.file, option.line))

    def get_user(self, reader):
        return Text(reader.get('user').replace(MARK, reader.instance))

    def get_umask(self, reader):
        return Text(reader.mode('umask', None))

    def get_directory(self, reader):
        return Text(path_value(reader.get('directory'), self.common.base), path=True)

    # --- Output ---

    def put_output(self, reader, values):
        both = reader.boolean('redirect_stderr', False)
        self.limits = []  # of files: (maxbytes, backups)
        places = {'stdout': self.place(reader, 'stdout')}
        if both:
            reader.asked.update('stderr_' + name for name in (
                'logfile', 'logfile_maxbytes', 'logfile_backups', 'syslog'))
            if places['stdout'] == 'inherit':
                self.node.note(reader.section['redirect_stderr'], 'redirect_stderr',
                               'each goes to that of swansongd')
        else:
            places['stderr'] = self.place(reader, 'stderr')
        if both or places['stdout'] == places['stderr']:
            places = {'log': places['stdout']}
        for key, place in places.items():
            if place:
                values[key] = Text(place, path=True)
        self.put_limits(reader, values)

    def put_limits(self, reader, values):
        """The rotation of supervisord, whose defaults are other ones."""
        if not self.limits:
            return
        if len(set(self.limits)) > 1:
            self.node.note(reader.section['stderr_logfile'], 'stderr_logfile', ROTATION)
        sizes, backups = zip(*self.limits)
        size = max(sizes) if all(sizes) else 0
        values['log-size'] = Text(size_text(size))
        if size:
            values['log-keep'] = Text(str(min(max(backups), KEEP_MAX)))

    def place(self, reader, stream):
        """Where a stream goes, as log has it; None for a place that supervisord chooses."""
        name = stream + '_logfile'
        option, text = reader.section.get(name), reader.get(name)
        syslog = reader.boolean(stream + '_syslog', False)
        if text is not None and text.lower() == 'syslog':
            text, syslog = 'none', True
        if text is None or text.lower() == 'auto':
            place = None
            if text:
                self.node.leave_out(option, name, 'it goes to that of swansongd')
        elif text.lower() in ('none', 'off', '/dev/null'):
            place = 'null'
        elif text in DAEMON:
            place = 'inherit'
            if DAEMON[text] != (1 if stream == 'stdout' else 2):
                self.node.leave_out(option, name, 'it goes to that of swansongd')
        else:
            place = 'file:' + path_value(text, self.common.base)
        size = reader.size(name + '_maxbytes', 50 << 20)
        backups = reader.number(name + '_backups', 10)
        if place and place.startswith('file:'):
            self.limits.append((size, backups))
        return self.with_syslog(reader, stream, place) if syslog else place

    def with_syslog(self, reader, stream, place):
        option = reader.section.get(stream + '_syslog') or reader.section[stream + '_logfile']
        if place and place.startswith('file:'):
            self.node.leave_out(option, stream + '_syslog', 'it goes to the file only')
            return place
        self.node.note(option, stream + '_syslog', 'the tag of its lines is the path of the node')
        return 'syslog'

    def leave_out_rest(self):
        known = {'priority', 'numprocs', 'numprocs_start', 'process_name', 'stopasgroup'}
        reader = Reader(self.section, self.names)
        for name, option in self.section.items():
            if name in known or name in getattr(self, 'asked', self.section):
                continue
            if re.fullmatch('std(out|err)_events_enabled', name):
                if reader.boolean(name, False):
                    self.node.leave_out(option, name, NO_EVENTS)
            elif re.fullmatch('std(out|err)_capture_maxbytes', name):
                if reader.size(name, 0):
                    self.node.leave_out(option, name, NO_EVENTS)
            elif name == 'serverurl':
                if option.value.upper() != 'AUTO':
                    self.node.leave_out(option, name, 'there is no XML-RPC')
            elif name == 'socket_backlog':
                self.node.leave_out(option, name, 'it is as large as the system allows')
            else:
                self.node.leave_out(option, name, UNKNOWN)
