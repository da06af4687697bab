"""The tree of a supervisord.conf.

What supervisord would start is worked out first, as supervisord does it: files, [include],
%(…)s, groups, numprocs.  Each program then becomes a node, or a template with instances.
"""

import os
import re

from .notes import BadInput
from .supervisord import (FALSE, TRUE, Reader, environment_names, expand, pairs, path_value,
                          read_all)
from .supervisord_program import DAEMON, UNKNOWN, Program
from .writer import Node, Text, Words, header, put_budget


class Common:
    """The same for all programs: where to report, the names for %(…)s, the base of paths."""

    def __init__(self, report, names, base):
        self.report, self.names, self.base = report, names, base


class Tree:
    """All nodes, and their order."""

    def __init__(self, sections, common):
        self.sections, self.common = sections, common
        self.paths = {'swansong', 'root'}
        self.groups, self.programs = [], []  # groups: (node, priority, [program])
        self.errors = []

    def path(self, *names):
        """A path of ours for a name of theirs; no two have the same."""
        path = '/'.join(re.sub('[^A-Za-z0-9_.-]', '_', name.strip()) or '_' for name in names)
        while path in self.paths or path.rsplit('/', 1)[-1] in ('.', '..'):
            path += '_'
        self.paths.add(path)
        return path

    def build(self):
        grouped = set()
        for name, section in self.sections.items():
            if name.startswith('group:'):
                self.attempt(self.add_group, section, grouped)
        for name, section in self.sections.items():
            if name.startswith(('program:', 'fcgi-program:')) and name not in grouped:
                self.attempt(self.add_program, section)
        for program in self.programs + [p for _, _, members in self.groups for p in members]:
            self.attempt(program.convert)
        self.put_order([(p.node, p.priority) for p in self.programs if p.node.values] +
                       [(node, priority) for node, priority, _ in self.groups])
        for _, _, members in self.groups:
            self.put_order([(p.node, p.priority) for p in members if p.node.values])

    def attempt(self, function, *arguments):
        """All mistakes are reported, not the first one alone."""
        try:
            function(*arguments)
        except BadInput as error:
            self.errors.append(str(error))

    def add_program(self, section):
        name = section.name.split(':', 1)[1]
        self.programs.append(Program(section, self.path(name), name.strip(), self.common))

    def add_group(self, section, grouped):
        name = section.name.split(':', 1)[1].strip()
        reader = Reader(section, self.common.names)
        node = Node(self.path(name), section.name, self.common.report)
        node.is_group = True
        node.note_name(section, name)
        members = []
        programs = reader.get('programs', '')
        for program in programs.split(',') if programs else ():
            for kind in ('program:', 'fcgi-program:'):
                member = self.sections.get(kind + program.strip())
                if member is not None:
                    break
            else:
                raise BadInput('%s:%d: [%s] names an unknown program: %s' % (
                    section.file, section.line, section.name, program.strip()))
            grouped.add(member.name)
            path = self.path(*node.name.split('/'), program)
            members.append(Program(member, path, name, self.common))
        for option in section:
            if option not in ('programs', 'priority'):
                node.leave_out(section[option], option, UNKNOWN)
        self.groups.append((node, reader.number('priority', 999), members))

    def put_order(self, nodes):
        """A lower priority starts earlier and stops later: each level is after the one below."""
        levels = {}
        for node, priority in nodes:
            levels.setdefault(priority, []).append(node)
        below = None
        for priority in sorted(levels):
            for node in levels[priority] if below else ():
                node.values['after'] = Words(other.name for other in below)
            below = levels[priority]

    def stop_seconds(self):
        """The longest time that supervisord leaves for a stop, level by level."""
        def total(items):
            levels = {}
            for priority, seconds in items:
                levels[priority] = max(seconds, levels.get(priority, 0))
            return sum(levels.values())
        def of(programs):
            return [(p.priority, p.stop_seconds) for p in programs]
        return total(of(self.programs) + [(priority, total(of(members)))
                                          for _, priority, members in self.groups])

    def texts(self):
        for program in self.programs:
            yield program.node.text()
        for node, _, members in self.groups:
            yield node.text()
            for program in members:
                yield program.node.text()


DAEMON_OPTIONS = {  # what has no counterpart: the values that need none, and why
    'logfile': (tuple(DAEMON) + ('/dev/null', 'none', 'NONE'), 'see --log-file of swansongd(8)'),
    'logfile_maxbytes': (('0',), 'see --log-file of swansongd(8)'),
    'logfile_backups': (('0',), 'see --log-file of swansongd(8)'),
    'loglevel': (('info',), 'see --log-level of swansongd(8)'),
    'pidfile': ((), 'there is no file with the process ID'),
    'nodaemon': (TRUE, 'swansongd stays in the foreground'),
    'silent': (FALSE, 'see --log-level of swansongd(8)'),
    'identifier': (('supervisor',), 'the tree has no name'),
    'childlogdir': ((), 'output without a place of its own goes to that of swansongd'),
    'nocleanup': (TRUE + FALSE, ''),
    'strip_ansi': (FALSE, 'output is left as it is'),
    'minprocs': (('200',), 'see limit-nproc in swansong.ini(5), which also lowers a limit'),
}


def make_root(sections, common, environment):
    section = sections['supervisord']
    reader = Reader(section, common.names)
    node = Node('swansong', 'supervisord', common.report)
    node.is_group = True
    put_socket_access(sections, node, common)
    user = reader.get('user')
    if user not in (None, 'root', '0'):
        node.values['user'] = Text(user)
        node.note(section['user'], 'user', 'swansongd itself stays who it is started as')
    if 'umask' in section:
        node.values['umask'] = Text(reader.mode('umask', None))
    if 'directory' in section:
        node.values['directory'] = Text(common.base, path=True)
    if environment:
        node.values['environment'] = Words('%s=%s' % pair for pair in environment.items())
    if reader.number('minfds', 1024) > 1024:
        node.values['limit-nofile'] = Text(str(reader.number('minfds', 1024)))
        node.note(section['minfds'], 'minfds', 'limit-nofile also lowers a limit')
    for name, option in section.items():
        fine, why = DAEMON_OPTIONS.get(name, ((), UNKNOWN))
        if name not in ('user', 'umask', 'directory', 'environment', 'minfds') and \
                (reader.get(name) or '').lower() not in fine:
            node.leave_out(option, name, why)
    return node


def put_socket_access(sections, node, common):
    for name, section in sections.items():
        reader = Reader(section, common.names)
        if name == 'inet_http_server':
            for option in section:
                node.leave_out(section[option], option, 'there is no control over the network')
        elif name == 'unix_http_server':
            node.values['control-mode'] = Text(reader.mode('chmod', '0700'))
            user, _, group = reader.get('chown', '').partition(':')
            if user not in ('', 'root', '0'):
                node.leave_out(section['chown'], 'chown', 'the socket belongs to who runs swansongd')
            if group:
                node.values['control-group'] = Text(group)
            if 'file' in section:
                node.note(section['file'], 'file', 'the control socket is the default one of '
                          'swansongd(8), and speaks another protocol')
            for option in section:
                if option in ('username', 'password'):
                    node.leave_out(section[option], option, 'its mode and group decide which users may connect')
                elif option not in ('file', 'chmod', 'chown'):
                    node.leave_out(section[option], option, UNKNOWN)


def other_sections(sections, common):
    """The ones that become no node: a comment each."""
    ignored = ('supervisord', 'include', 'unix_http_server', 'inet_http_server', 'supervisorctl',
               'rpcinterface:supervisor')
    for name, section in sections.items():
        if name in ignored or name.startswith(('program:', 'fcgi-program:', 'group:')):
            continue
        why = UNKNOWN
        if name.startswith('eventlistener:'):
            why = 'there are no event listeners; see on-failed, essential and watchdog in ' \
                  'swansong.ini(5)'
        elif name.startswith('rpcinterface:'):
            why = 'there is no XML-RPC'
        elif name.startswith('ctlplugin:'):
            why = 'swansongctl has no plugins'
        node = Node('', name, common.report)
        common.report.left_out = True
        node.comment(section, 'not carried over: the section: ' + why)
        yield '\n'.join(['; [%s]' % name] + node.comments + [
            '; %s = %s' % (key, ' '.join(option.value.split()))
            for key, option in section.items() if key != 'password'] + [''])


def convert(paths, report):
    """Returns the text of our configuration."""
    (path,) = paths
    sections = read_all(path, report)
    names = environment_names()
    daemon = sections['supervisord']
    environment = {}
    if 'environment' in daemon:
        option = daemon['environment']
        environment = pairs(option, expand(option, names))
        names.update(('ENV_' + name, value) for name, value in environment.items())
    directory = Reader(daemon, names).get('directory') or '.'
    common = Common(report, names, path_value(directory, os.getcwd()))
    tree = Tree(sections, common)
    tree.build()
    tree.attempt(lambda: setattr(tree, 'root', make_root(sections, common, environment)))
    if tree.errors:
        raise BadInput(*tree.errors)
    put_budget(tree.root, daemon, tree.stop_seconds())
    parts = [header([path]),
             tree.root.text(), *tree.texts(), *other_sections(sections, common)]
    return '\n'.join(parts)
