"""The tree of a compose file.

Each service is a node, or a template with instances.  depends_on is requires or wants, and makes the other
service a oneshot where its completion is waited for.
"""

from . import compose_keys
from .compose_service import Service
from .compose_text import Values
from .graph import Graph
from .notes import BadInput, Option
from .values import Paths, read_boolean, read_number
from .writer import Node, Text, Words, arranged, header, put_budget
from .yaml_nodes import Scalar, Sequence
from .yaml_subset import Document

CONDITIONS = ('service_started', 'service_healthy', 'service_completed_successfully')
SERVICES_MAX = 2000


class Tree:
    def __init__(self, path, report):
        self.path, self.report = path, report
        self.values = Values(path, report)
        self.top = self.values.mapping(Document(path).read(), 'the file')
        self.paths, self.graph = Paths(), Graph()
        self.services, self.depends = {}, {}
        self.healthy, self.completed = set(), set()
        self.errors = []

    def attempt(self, function, *arguments):
        """All mistakes are reported, not the first one alone."""
        try:
            function(*arguments)
        except BadInput as error:
            self.errors.append(str(error))

    def build(self):
        self.root = Node('swansong', 'services', self.report)
        self.root.is_group = True
        self.root.values.update({'environment-clear': Text('yes'), 'environment-pass': Words(['PATH', 'LANG'])})
        self.read_top()
        services = self.top.items.get('services')
        if services is None or services.is_null():
            self.values.refuse(self.top.line, 'there are no services')
        services = self.values.mapping(services, 'services')
        if len(services.items) > SERVICES_MAX:
            self.values.refuse(services.line, 'more than %d services' % SERVICES_MAX)
        for name, mapping in services.items.items():
            self.attempt(self.add_service, name, mapping, services.lines[name])
        for service in self.services.values():
            self.attempt(self.read_depends, service)
        for service in self.services.values():
            self.attempt(service.convert)
        if self.errors:
            raise BadInput(*self.errors)
        self.put_edges()

    def read_top(self):
        for key, node in self.top.items.items():
            line = self.top.lines[key]
            if key == 'include':
                self.values.refuse(line, 'include is not read: ' + compose_keys.CONFIG)
            if key in compose_keys.TOP_SILENT or key.startswith('x-') or node.is_null():
                continue
            self.root.leave_out(self.values.option(key, line, node), key,
                                compose_keys.TOP.get(key, 'it is not a key that is known here'))

    def add_service(self, name, mapping, line):
        mapping = self.values.mapping(mapping, name)
        many = self.is_scaled(mapping)
        node = Node(self.paths.take(name + '@' if many else name), name, self.report)
        node.note_name(Option(self.path, line, ''), name + '@' * many)
        self.services[name] = Service(name, mapping, line, node, self)

    def is_scaled(self, mapping):
        deploy = mapping.items.get('deploy')
        node = mapping.items.get('scale') or getattr(deploy, 'items', None) and isinstance(deploy.items, dict) and \
            deploy.items.get('replicas')
        try:
            return isinstance(node, Scalar) and read_number(self.values.text(node, 'replicas'), 0, 10000) > 1
        except ValueError:
            return False

    # --- Order ---

    def read_depends(self, service):
        node = service.get('depends_on')
        found = self.depends[service.name] = []
        if node is None:
            return
        if isinstance(node, Sequence):
            for text, line in self.values.texts(node, 'depends_on'):
                found.append((text, 'requires', line))
        else:
            items = self.values.mapping(node, 'depends_on')
            for name, its in items.items.items():
                found.append((name, self.read_condition(name, its), items.lines[name]))
        for name, _, line in found:
            if name not in self.services:
                self.values.refuse(line, 'depends_on names an unknown service: ' + name)

    def read_condition(self, name, node):
        items = {} if node.is_null() else self.values.mapping(node, 'depends_on').items
        condition = self.values.text(items['condition'], 'condition') if 'condition' in items else CONDITIONS[0]
        if condition not in CONDITIONS:
            self.values.refuse(items['condition'].line, 'condition is none of ' + ', '.join(CONDITIONS))
        if condition == 'service_healthy':
            self.healthy.add(name)
        elif condition == 'service_completed_successfully':
            self.completed.add(name)
        required = items.get('required')
        try:
            return 'requires' if required is None or read_boolean(self.values.text(required, 'required')) else 'wants'
        except ValueError as error:
            return self.values.refuse(required.line, 'required is %s' % error)

    def put_edges(self):
        for name, depends in self.depends.items():
            service = self.services[name]
            if not service.values:
                continue
            for other, kind, line in depends:
                its = self.services[other]
                option = Option(self.path, line, other, 'depends_on')
                if not its.values:
                    service.node.leave_out(option, 'depends_on', '%s has no command here' % other)
                elif not self.graph.add(service.node.name, its.node.name, kind):
                    self.values.refuse(line, 'depends_on: %s: %s' % (other, self.graph.why))
                elif other in self.healthy and 'ready' not in its.values and other not in self.completed:
                    its.node.note(option, 'depends_on', 'it has no healthcheck: it is ready when it is started')
        for service in self.services.values():
            for other in self.behind_oneshots(service.name):
                if service.values and self.services[other].values:
                    self.graph.add(service.node.name, self.services[other].node.name, 'after')
        for service in self.services.values():
            if service.values:
                self.graph.put(service.node.name, service.values)
                service.node.values = arranged(service.values)

    def behind_oneshots(self, name):
        """What the oneshots of a service depend on, as an order here ends with one that is done."""
        found, todo, seen = {}, [name], {name}
        while todo:
            for other, _, _ in self.depends[todo.pop()]:
                if other not in seen and self.services[other].is_oneshot():
                    found.update((its, True) for its, _, _ in self.depends[other])
                    seen.add(other)
                    todo.append(other)
        return list(found)


def convert(paths, report):
    (path,) = paths
    tree = Tree(path, report)
    tree.build()
    seconds = {service.node.name: service.stop_seconds() for service in tree.services.values()}
    put_budget(tree.root, Option(path, 1, ''), tree.graph.longest(seconds))
    texts = [service.node.text() for service in tree.services.values()]
    return '\n'.join([header(paths), tree.root.text(), *texts])
