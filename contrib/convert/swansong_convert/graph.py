"""The order between nodes: edges without a cycle, the strongest one of each pair.

A template and its instances are one node here: an order of one of them is that of all.
"""

from .writer import Words

EDGES_MAX = 10000
KINDS = ('binds-to', 'requires', 'wants', 'after')


def base(name):
    """The template of an instance."""
    return name.split('@')[0] + '@' if '@' in name else name


class Graph:
    def __init__(self):
        self.n_edges, self.why = 0, ''
        self.edges = {}  # node: {other: kind}; the node starts after the other
        self.below = {}  # the same without kinds and instances
        self.named = set()  # all that another one starts after

    def others(self, node):
        return self.below.get(node, set())

    def reaches(self, start, end):
        if start == end:
            return True
        if end not in self.named:
            return False
        seen, todo = {start}, [start]
        while todo:
            for other in self.others(todo.pop()):
                if other == end:
                    return True
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return False

    def add(self, node, other, kind):
        """Returns false if that would close a cycle, or for one edge too many; self.why is the reason then."""
        mine = self.edges.setdefault(base(node), {})
        if other in mine:
            mine[other] = min(mine[other], kind, key=KINDS.index)
            return True
        self.n_edges += 1
        self.why = 'more than %d dependencies' % EDGES_MAX if self.n_edges > EDGES_MAX else \
            'that would be a dependency cycle' if self.reaches(base(other), base(node)) else ''
        if self.why:
            return False
        mine[other] = kind
        self.below.setdefault(base(node), set()).add(base(other))
        self.named.add(base(other))
        return True

    def put(self, node, values):
        """The keys of a node; a template in a list stands for its instances."""
        for kind in KINDS:
            found = [other for other, its in self.edges.get(base(node), {}).items() if its == kind]
            found = [other for other in found if other == base(other) or base(other) not in found]
            if found:
                values[kind] = Words(found)

    def longest(self, seconds):
        """The longest sum of @seconds, by node, along a chain: these end one after the other."""
        sums = {}
        for start in seconds:
            todo = [base(start)]
            while todo:
                node = todo[-1]
                missing = [n for n in self.others(node) if n not in sums]
                if missing and node not in sums:
                    todo += missing
                    continue
                sums[node] = seconds.get(node, 0) + max((sums[n] for n in self.others(node)), default=0)
                todo.pop()
        return max(sums.values(), default=0)
