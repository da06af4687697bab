"""The order between nodes: edges without a cycle, the strongest one of each pair.

A template and its instances are one node here: an order of one of them is that of all.
"""

from .writer import Words

KINDS = ('requires', 'wants', 'after')


def base(name):
    """The template of an instance."""
    return name.split('@')[0] + '@' if '@' in name else name


class Graph:
    def __init__(self):
        self.edges = {}  # node: {other: kind}; the node starts after the other

    def others(self, node):
        return {base(other) for other in self.edges.get(node, ())}

    def reaches(self, start, end):
        seen, todo = {start}, [start]
        while todo:
            node = todo.pop()
            if node == end:
                return True
            todo += self.others(node) - seen
            seen |= self.others(node)
        return False

    def add(self, node, other, kind):
        """Returns false if that would close a cycle."""
        mine = self.edges.setdefault(base(node), {})
        if other in mine:
            mine[other] = min(mine[other], kind, key=KINDS.index)
            return True
        if self.reaches(base(other), base(node)):
            return False
        mine[other] = kind
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
