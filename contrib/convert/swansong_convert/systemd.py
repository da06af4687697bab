"""The tree of units of systemd.

Each service is a node; its sockets and timers are keys of its section, and a target stands for the units that
it starts.  What is ordered, required and wanted is an edge, unless that would close a cycle.
"""

from . import systemd_keys
from .graph import Graph, base
from .notes import BadInput, Option, one_line
from .systemd_activation import put_sockets, put_timers
from .systemd_reader import Reader, Refused
from .systemd_service import Service
from .systemd_words import Specifiers
from .units import UnitName, Units
from .values import Paths, node_part
from .writer import MARK, Node, Text, Words, arranged, header, put_budget

UNITS_MAX = 2000
INSTANCES_SIZE = 4 << 20  # bytes that are read for all instances
PULLS = (('Requires', 'requires'), ('BindsTo', 'binds-to'), ('Requisite', 'requires'), ('PartOf', 'requires'),
         ('BindTo', 'binds-to'), ('Wants', 'wants'), ('Upholds', 'wants'))
PULLED = (('RequiredBy', 'requires'), ('WantedBy', 'wants'), ('UpheldBy', 'wants'))
NOTES = {'Requisite': 'a start starts the other one, too', 'PartOf': 'a start starts the other one, too',
         'Upholds': 'the other one is started with it, and not again'}
UNKNOWN = 'no such unit was given; where it stays with systemd, a drop-in of swansongd.service can have %s='
CHAINS = {'OnSuccess': 'on-success-start', 'OnFailure': 'on-failure-start'}
HANDLED = {key for key, _ in PULLS} | set(CHAINS) | {'After', 'Before', 'FailureAction', 'SuccessAction',
                                       'StartLimitInterval', 'StartLimitIntervalSec', 'StartLimitBurst',
                                       'DefaultDependencies', 'Conflicts'}
ACCEPT = 'there is no process for each connection: a program that accepts them itself, or systemd beside ' \
         'swansongd, can do it'
BESIDE = 'systemd can do it beside swansongd'


class Tree:
    def __init__(self, units, report):
        self.units, self.report = units, report
        self.paths, self.graph = Paths(), Graph()
        self.nodes, self.services, self.others = {}, {}, []
        self.order, self.pulls, self.ordered = [], [], set()
        self.seconds = {}
        self.from_targets = set()  # units that a target starts
        self.of_target = None  # ({node}, {target}) of each target
        self.outside = {}  # what a drop-in of swansongd.service can have: {key: units}

    def build(self):
        units = list(self.units.by_name.values())
        self.root = Node('swansong', 'manager', self.report)
        self.root.is_group = True
        self.root.values.update({
            'environment-clear': Text('yes'), 'environment-pass': Words(['PATH', 'LANG']),
            'stop-timeout': Text('90s')})
        self.find_members(units)
        for unit in units:
            if unit.name.kind == 'service' and self.is_here(unit):
                name = unit.name.full.removesuffix('.service')
                # With its template it would inherit the keys of that.
                own = name.replace('@', '-') if unit.name.template() in self.units.by_name else name
                node = Node(self.paths.take(own), unit.name.full, self.report)
                node.note_name(unit.place(), name)
                self.nodes[unit.name.full] = node
        for unit in units:
            if unit.name.full in self.nodes:
                self.convert_service(unit, self.nodes[unit.name.full])
        for unit in units:
            self.collect_edges(unit)
        self.add_edges()
        for name, service in self.services.items():
            self.finish(service, self.nodes[name])
        for unit in units:
            if unit.name.kind != 'service':
                self.other_unit(unit)

    def is_here(self, unit):
        if unit.assignments:
            return True
        node = Node(unit.name.full, unit.name.full, self.report)
        node.leave_out(Option(unit.path, 1, '', 'unit'), 'unit', 'it is masked, or has no lines')
        self.others.append(node)
        return False

    # --- Sockets, timers and instances of each service ---

    def find_members(self, units):
        for unit in units:
            unit.sockets, unit.timers, unit.per_connection = [], [], None
        for unit in units:
            if unit.name.kind in ('socket', 'timer'):
                service = self.service_of(unit)
                if unit.name.kind == 'socket' and is_accepting(unit):
                    self.mark_per_connection(unit)
                if service:
                    getattr(service, unit.name.kind + 's').append(unit)
        for unit in units:
            unit.timer = bool(unit.timers)
            for option in unit.words('Service', 'Sockets'):
                other, _ = self.lookup(unit, option)
                if other and other not in unit.sockets and not is_accepting(other):
                    unit.sockets.append(other)
            default = unit.last('Install', 'DefaultInstance')
            if unit.name.is_template and default and not unit.instances:
                unit.instances.append(default.value)
            for key in ('Requires', 'Wants', 'BindsTo', 'Requisite', 'Upholds', *CHAINS):
                for option in unit.words('Unit', key):
                    other, instance = self.lookup(unit, option)
                    if other and unit.name.kind == 'target' and key not in CHAINS:
                        self.from_targets.add(other.name.full)
                    if instance and MARK not in instance and instance not in other.instances:
                        other.instances.append(instance)

    def mark_per_connection(self, unit):
        name = unit.name.prefix + '@.service'
        if name in self.units.by_name:
            self.units.by_name[name].per_connection = unit

    def service_of(self, unit):
        """The service that a socket or a timer starts; None with Accept=yes, or for a unit of another kind."""
        key = ('Socket', 'Service') if unit.name.kind == 'socket' else ('Timer', 'Unit')
        option = unit.last(*key)
        name = option.value if option else unit.name.full.removesuffix(unit.name.kind) + 'service'
        if unit.name.kind == 'socket' and is_accepting(unit):
            return None
        return self.units.find_by_name(name)[0]

    def lookup(self, unit, option):
        """(unit, instance) of a name with specifiers, or (None, None)."""
        try:
            return self.units.find_by_name(Specifiers(unit).expand(option.value))
        except ValueError:
            return None, None

    # --- Services ---

    def convert_service(self, unit, node):
        try:
            if unit.per_connection:
                raise Refused(unit.per_connection.last('Socket', 'Accept'), ACCEPT)
            if unit.name.is_template:
                self.convert_template(unit, node)
            else:
                self.services[unit.name.full] = self.convert_one(unit, node)
                node.values = self.services[unit.name.full].values
        except Refused as refusal:
            option, why = refusal.args
            node.leave_out(option, option.name or 'unit', 'the unit: ' + why)
            node.values = {}
            return
        self.services[unit.name.full].setup_name = self.add_setup(unit, node)

    def convert_one(self, unit, node, instance=None):
        own = [unit] + unit.sockets + unit.timers
        before = [its.instance for its in own]
        for its in own:
            its.instance = instance or its.instance
        try:
            service = Service(unit, node, self)
            service.convert()
            put_sockets(service, node)
            put_timers(service, node, self)
            self.put_autostart(service, node)
            return service
        finally:
            for its, value in zip(own, before):
                its.instance = value

    def convert_template(self, unit, node):
        shared = self.convert_one(unit, node)
        names = {}
        most = min(1000, INSTANCES_SIZE // max(sum(len(o.value) for _, o in unit.assignments), 1))
        if len(unit.instances) > most:
            raise Refused(unit.place(), 'more than %d instances' % most)
        for instance in unit.instances:
            names.setdefault(node_part(instance), instance)
        services = {name: self.convert_one(unit, node, instance) for name, instance in names.items()}
        if not names:
            lost = [key for key, value in shared.values.items() if value.is_bound()]
            if 'user' in lost or 'group' in lost:
                raise Refused(unit.place(), 'its user is that of an instance: give the instances, too')
            for key in lost:
                node.note(unit.place(), key, 'it differs between instances: give these, too')
                del shared.values[key]
        node.instances = list(names)
        node.put_instances(shared.values, {name: its.values for name, its in services.items()})
        shared.values = node.values
        shared.of_instances = services
        self.services[unit.name.full] = shared

    def add_setup(self, unit, node):
        """Adds the oneshot of what root does before the start; returns the name for requires."""
        service = self.services[unit.name.full]
        values = service.commands.setup_values()
        if not values:
            return None
        at = '@' if unit.name.is_template else ''
        setup = Node(self.paths.take(node.name.rstrip('@') + '-setup' + at), unit.name.full, self.report)
        if at:
            setup.instances = node.instances
            setup.put_instances(values, {name: its.commands.setup_values() or {}
                                         for name, its in service.of_instances.items()})
        else:
            setup.values = values
        node.own.append(setup.text())
        return setup.name + (MARK if at else '')

    def put_autostart(self, service, node):
        unit, values = service.unit, service.values
        installed = unit.words('Install', 'WantedBy', 'RequiredBy', 'UpheldBy')
        if unit.name.full in self.from_targets or (installed and not self.is_only_wanted(installed)):
            return
        if 'listen' in values and not service.is_oneshot():
            values['autostart'] = Text('on-demand')
        elif 'schedule' not in values:
            values['autostart'] = Text('no')
            if not installed:
                node.note(unit.place(), 'autostart', 'nothing starts the unit by itself: it has no WantedBy=')

    def is_only_wanted(self, installed):
        """Returns true if all that want it are services of the tree, which start it."""
        return all(self.units.find_by_name(option.value)[0] and not option.value.endswith('.target')
                   for option in installed)

    # --- Edges ---

    def resolve(self, unit, option):
        """The nodes that a name means, or None if no such unit was given."""
        found, instance = self.lookup(unit, option)
        if found and found.name.kind == 'target':
            return self.members(found)
        return self.resolve_service(unit, option)

    def resolve_service(self, unit, option):
        found, instance = self.lookup(unit, option)
        if not found:
            return None
        name = found.name.full
        if found.name.kind in ('socket', 'timer'):
            found = self.service_of(found)
            name = found and found.name.full
        if name in self.nodes:
            node = self.nodes[name]
            if instance and node.values:
                return [node.name + (MARK if MARK in instance else node_part(instance))]
            return [node.name] if self.is_named(node) else None
        return None

    @staticmethod
    def is_named(node):
        """Returns true if other nodes can name it: a template needs instances."""
        return bool(node.values) and (not node.name.endswith('@') or bool(node.instances))

    def members(self, target):
        """The nodes that a target starts, also by other targets."""
        if self.of_target is None:
            self.find_of_targets()
        found, todo, seen = {}, [target.name.full], {target.name.full}
        while todo:
            nodes, targets = self.of_target[todo.pop()]
            found.update(nodes)
            todo += [name for name in targets if name not in seen]
            seen.update(targets)
        return list(found)

    def find_of_targets(self):
        """Of each target the nodes and the targets that it names, or that name it."""
        self.of_target, names = {}, {}
        for unit in self.units.by_name.values():
            if unit.name.kind == 'target':
                nodes, targets = self.of_target[unit.name.full] = {}, {}
                names.update((name, nodes) for name in (unit.name.full, *unit.words_of_alias()))
                for option in unit.words('Unit', 'Requires', 'Wants', 'BindsTo', 'Upholds'):
                    other, _ = self.lookup(unit, option)
                    if other and other.name.kind == 'target':
                        targets[other.name.full] = True
                    else:
                        nodes.update((name, True) for name in self.resolve_service(unit, option) or ())
        for name, node in self.nodes.items():
            for option in self.units.by_name[name].words('Install', 'WantedBy', 'RequiredBy'):
                if self.is_named(node) and option.value in names:
                    names[option.value][node.name] = True

    def collect_edges(self, unit):
        owner = unit if unit.name.kind == 'service' else \
            self.service_of(unit) if unit.name.kind in ('socket', 'timer') else None
        node = owner and self.nodes.get(owner.name.full)
        if not node or not node.values:
            return
        for option in unit.words('Unit', 'After'):
            self.add_order(unit, node, option, True)
        for option in unit.words('Unit', 'Before'):
            self.add_order(unit, node, option, False)
        for key, kind in PULLS:
            for option in unit.words('Unit', key):
                self.add_pull(unit, node, option, kind)
        if unit.name.kind == 'service':
            for key, kind in PULLED:
                for option in unit.words('Install', key):
                    for other in self.resolve(unit, option) or ():
                        pair = self.reverse(node, other)
                        if pair and not option.value.endswith('.target'):
                            self.pulls.append((*pair, kind, option, node))
            self.put_chains(unit, node)
        self.leave_out_unit(unit, node)

    def add_order(self, unit, node, option, after):
        if option.value in systemd_keys.EARLY | systemd_keys.LATE | systemd_keys.GOALS:
            if not (after and option.value in systemd_keys.GOALS):
                return
        others = self.resolve(unit, option)
        if others is None:
            self.leave_out_unknown(unit, node, option)
        for other in others or ():
            pair = (node.name, other) if after else self.reverse(node, other)
            if pair and base(pair[0]) != base(pair[1]):
                self.order.append((*pair, option, node))
                self.ordered.add((base(pair[0]), base(pair[1])))

    def leave_out_unknown(self, unit, node, option):
        # The order to a socket or a timer of its own holds by itself.
        if option.value.rpartition('.')[0] == unit.name.full.rpartition('.')[0]:
            return
        node.leave_out(option, option.name, UNKNOWN % option.name)
        if MARK not in option.value and option.value not in systemd_keys.GOALS and '%' not in option.value:
            key = option.name if option.name in ('After', 'Before') else 'Wants'
            self.outside.setdefault(key, {})[option.value] = True

    @staticmethod
    def reverse(node, other):
        """The edge of another node, to this one; None for a template that has no nodes."""
        if not node.name.endswith('@'):
            return base(other), node.name
        if MARK in other:
            return base(other), node.name + MARK
        return (base(other), node.name) if node.instances else None

    def add_pull(self, unit, node, option, kind):
        if option.value in systemd_keys.EARLY:
            return
        others = self.resolve(unit, option)
        if option.name == 'PartOf' and option.value.endswith('.target'):
            node.leave_out(option, 'PartOf', 'a target has no node: stop the services by their names')
            return
        if others is None:
            self.leave_out_unknown(unit, node, option)
        if kind == 'binds-to' and option.value.endswith('.target'):
            kind = 'requires'  # a target does not end with its services
        for other in others or ():
            if base(other) != base(node.name):
                if option.name in NOTES:
                    node.note(option, option.name, '%s: %s' % (option.value, NOTES[option.name]))
                self.pulls.append((node.name, other, kind, option, node))

    def add_edges(self):
        """The edges with an order come first, then those that get one here."""
        ordered, free = [], []
        for pull in self.pulls:
            node, other, _, option, owner = pull
            if (base(node), base(other)) in self.ordered:
                ordered.append(pull)
            elif (base(other), base(node)) in self.ordered:
                owner.leave_out(option, option.name, '%s would start before, not after it' % option.value)
            else:
                free.append(pull)
        edges = ordered + [(node, other, 'after', option, owner)
                           for node, other, option, owner in self.order] + free
        for node, other, kind, option, owner in edges:
            if not self.graph.add(node, other, kind):
                owner.leave_out(option, option.name, self.graph.why)

    def put_chains(self, unit, node):
        """The units that are started when a run has succeeded, or the service is given up."""
        for key, name in CHAINS.items():
            names = {}
            for option in unit.words('Unit', key):
                others = self.resolve(unit, option)
                if not others:
                    node.leave_out(option, key, 'no such unit was given')
                names.update((other, True) for other in others or () if base(other) != base(node.name))
            if names:
                node.values[name] = Words(list(names))

    def leave_out_unit(self, unit, node):
        reader = Reader(unit, 'Unit', node)
        reader.asked = set(HANDLED)
        for option in unit.words('Unit', 'Conflicts'):
            if option.value not in systemd_keys.LATE:
                node.leave_out(option, 'Conflicts', systemd_keys.UNIT['Conflicts'])
        option = unit.last('Unit', 'DefaultDependencies')
        if option and option.value.lower() in systemd_keys.OFF and unit.name.kind == 'service':
            node.leave_out(option, 'DefaultDependencies', 'it starts with swansongd, not earlier in the boot')
        reader.leave_out_rest()

    # --- The end of each ---

    def finish(self, service, node):
        if not node.values:
            return
        self.graph.put(node.name, node.values)
        if service.setup_name:
            words = node.values['requires'].words if 'requires' in node.values else []
            node.values['requires'] = Words(list(words) + [service.setup_name])
        node.values = arranged(node.values)
        self.seconds[node.name] = service.stop_seconds() if not service.is_oneshot() else 0

    def other_unit(self, unit):
        kind = unit.name.kind
        if kind in ('socket', 'timer'):
            service = self.service_of(unit)
            node = service and self.nodes.get(service.name.full)
            if node and node.values:
                return
            why = 'its service has no counterpart' if node else 'its service is not among the units that were given'
            if kind == 'socket' and is_accepting(unit):
                why = ACCEPT
        elif kind == 'target':
            if self.members(unit):
                return
            why = 'none of its units was given'
        else:
            why = BESIDE
        node = Node(unit.name.full, unit.name.full, self.report)
        for section, option in unit.assignments:
            if section == kind.capitalize() and option.value:
                node.leave_out(option, option.name, why)
        if not node.comments:
            node.leave_out(Option(unit.path, 1, '', 'unit'), 'unit', why)
        self.others.append(node)

    def put_outside(self):
        """The lines of a drop-in with the order to all units that were not given."""
        if self.outside:
            self.root.comments.append('; A drop-in of swansongd.service for units that stay with systemd, without '
                                      'those that move as well:')
            self.root.comments.append('; [Unit]')
            self.root.comments += [one_line('; %s=%s' % (key, ' '.join(names)))
                                   for key, names in self.outside.items()]

    def texts(self):
        for name, node in self.nodes.items():
            unit = self.units.by_name[name]
            for key in ('Description', 'Documentation'):
                option = unit.last('Unit', key)
                if option:
                    yield '; ' + ''.join(c if c.isprintable() else ' ' for c in option.value)
            yield node.text()
        for node in self.others:
            yield node.text()


def is_accepting(unit):
    option = unit.last('Socket', 'Accept')
    return option is not None and option.value.lower() in ('yes', 'true', 'on', '1')


def load_companions(units):
    """The services that the given sockets and timers start."""
    for unit in list(units.by_name.values()):
        if unit.name.kind not in ('socket', 'timer') or is_accepting(unit):
            continue
        option = unit.last('Socket', 'Service') or unit.last('Timer', 'Unit')
        name = option.value if option else unit.name.full.removesuffix(unit.name.kind) + 'service'
        try:
            found = UnitName(name)
        except ValueError:
            continue
        if not found.is_template or unit.name.is_template:
            units.load(found, unit.folders)


def convert(paths, report):
    units = Units(report)
    for path in paths:
        units.give(path)
    load_companions(units)
    if not units.by_name:
        raise BadInput('%s:1: there are no units' % paths[0])
    if len(units.by_name) > UNITS_MAX:
        raise BadInput('%s:1: more than %d units' % (paths[0], UNITS_MAX))
    tree = Tree(units, report)
    tree.build()
    tree.put_outside()
    put_budget(tree.root, next(iter(units.by_name.values())).place(), tree.graph.longest(tree.seconds))
    return '\n'.join([header(paths), tree.root.text(), *tree.texts()])
