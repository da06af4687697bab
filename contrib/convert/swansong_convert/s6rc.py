"""Source directories of s6-rc: longruns, oneshots and bundles."""

from .folders import find, finish_words, make_root, put_run
from .graph import Graph
from .values import Paths, read_number, read_signal, seconds_of, span_text
from .writer import Commands, Node, Text, Words, arranged, header, put_budget

BUNDLES = ('default', 'user')  # started at the boot: by custom, and by s6-overlay
REASONS = {
    'producer-for': 'there is no pipe between services: log sets a destination',
    'consumer-for': 'there is no pipe between services: log sets a destination',
    'pipeline-name': 'there is no pipe between services: log sets a destination',
    'flag-essential': 'swansongctl may stop each service', 'flag-newpidns': 'there are no namespaces',
    'flag-recommended': 'a bundle names all of its members', 'lock-fd': 'there is no lock',
    'timeout-finish': 'finish has the stop-timeout', 'timeout-down': 'see stop-timeout and shutdown-timeout',
}
SILENT = {'dependencies', 'dependencies.d', 'data', 'env', 'run', 'type', 'contents', 'contents.d', 'nosetsid'}


def milliseconds(text):
    """0 is no limit."""
    return read_number(text, 0, 1 << 31) * 1000


class Service:
    def __init__(self, folder, kind, node):
        self.folder, self.kind, self.node = folder, kind, node
        self.stop_usec = 0

    def names(self, file):
        """Other services, in a file or a folder: [(option, name)]."""
        folder = self.folder
        found = [(folder.option(file, n, line), line) for n, line in folder.lines(file)]
        return found + [(folder.option(file + '.d'), name) for name in folder.names(file + '.d')]

    def convert(self):
        folder, node, values = self.folder, self.node, self.node.values
        script = folder.file('run' if self.kind == 'longrun' else 'up')
        if not script:
            node.leave_out(folder.option('type'), 'type', 'there is no script for it')
            return
        start = folder.value('timeout-up', milliseconds, node)
        values['start-timeout'] = Text(span_text(start) if start else 'infinity')
        if self.kind == 'oneshot':
            values['type'] = Text('oneshot')
            values['command'] = Words(['execlineb', '-P', script])
            values['directory'] = Text('/')
            down = folder.file('down')
            if down and folder.lines('down'):
                values['stop-command'] = Commands([['execlineb', '-P', down]])
        else:
            self.convert_longrun()
        folder.leave_out_rest(node, 'it is not a file of s6-rc that is known here', REASONS, SILENT)

    def convert_longrun(self):
        folder, node, values = self.folder, self.node, self.node.values
        put_run(folder, values)
        fd = folder.value('notification-fd', lambda text: read_number(text, 3, 1023), node)
        if fd:
            values['ready'] = Text('fd:%d' % fd)
        finish = folder.file('finish')
        if finish:
            values['post-stop'] = Commands([finish_words(finish, '256')])
            node.note(folder.option('finish'), 'finish', 'after a signal its second argument is 0')
        name = folder.value('down-signal', read_signal, node)
        if name and name != 'TERM':
            values['stop-signal'] = Text(name)
        kill = folder.value('timeout-kill', milliseconds, node)
        self.stop_usec = kill or 0
        values['stop-timeout'] = Text(span_text(kill) if kill else 'infinity')
        deaths = folder.value('max-death-tally', lambda text: read_number(text, 0, 4096), node)
        if deaths:
            node.note(folder.option('max-death-tally'), 'max-death-tally', 'only finish can end the restarts')


def resolve(services, name):
    """The services that a name means: itself, or those of a bundle, which may have others."""
    found, todo, seen = [], [name], {name}
    while todo:
        service = services.get(todo.pop(0))
        if service is None:
            continue
        if service.kind != 'bundle':
            found.append(service)
            continue
        names = [its for _, its in service.names('contents') if its not in seen]
        seen.update(names)
        todo += dict.fromkeys(names)
    return found


def put_edges(services):
    graph = Graph()
    for service in services.values():
        if service.kind == 'bundle' or not service.node.values:
            continue
        for option, name in service.names('dependencies'):
            found = [other for other in resolve(services, name) if other.node.values]
            if not found:
                service.node.leave_out(option, 'dependencies', 'no such service was given: ' + name)
            for other in found:
                if not graph.add(service.node.name, other.node.name, 'requires'):
                    service.node.leave_out(option, 'dependencies', '%s: %s' % (name, graph.why))
    return graph


def convert(paths, report):
    taken, services = Paths(), {}
    for folder in find(paths, 'type'):
        kind = next((line for _, line in folder.lines('type')), '')
        node = Node(taken.take(folder.name) if kind != 'bundle' else '', folder.name, report)
        services[folder.name] = Service(folder, kind, node)
        if kind in ('longrun', 'oneshot'):
            node.note_name(folder.option('type'), folder.name)
            services[folder.name].convert()
        elif kind != 'bundle':
            node.leave_out(folder.option('type', 1, kind), 'type', 'it is none of longrun, oneshot and bundle')
    graph = put_edges(services)
    started = {service.node.name for name in BUNDLES for service in resolve(services, name)}
    for service in services.values():
        if service.node.values:
            graph.put(service.node.name, service.node.values)
            if started and service.node.name not in started:
                service.node.values['autostart'] = Text('no')
            service.node.values = arranged(service.node.values)
    root = make_root(report, 's6-rc')
    seconds = {service.node.name: seconds_of(service.stop_usec) for service in services.values()}
    put_budget(root, next(iter(services.values())).folder.option('type') if services else None,
               graph.longest(seconds))
    return '\n'.join([header(paths), root.text(), *(service.node.text() for service in services.values()
                                                    if service.kind != 'bundle')])
