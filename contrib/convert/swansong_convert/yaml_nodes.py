"""The values of YAML, each with its line, and how the lines of a text become one."""

NULLS = ('', '~', 'null', 'Null', 'NULL')


class Scalar:
    def __init__(self, line, value, quoted=False):
        self.line, self.value, self.quoted = line, value, quoted

    def is_null(self):
        return not self.quoted and self.value in NULLS


class Sequence:
    def __init__(self, line):
        self.line, self.items = line, []

    def is_null(self):
        return False


class Mapping:
    """Values by key; the line of each key."""

    def __init__(self, line):
        self.line, self.items, self.lines = line, {}, {}

    def is_null(self):
        return False


def fold(lines):
    """Lines of a scalar as one: a blank for a line break, a line break for each blank line."""
    value, breaks = lines[0] if lines else '', 0
    for i, line in enumerate(lines[1:], 2):
        if not line and i < len(lines):
            breaks += 1
            continue
        value += ('\n' * breaks or ' ') + line
        breaks = 0
    return value


def fold_block(lines):
    """The same in a block, where lines that are indented more stay as they are."""
    value, breaks, before = '', 0, None
    for line in lines:
        if not line:
            breaks += 1
            continue
        kept = line[0] in ' \t'
        if before is None:
            value += '\n' * breaks
        elif kept or before:
            value += '\n' * (breaks + 1)
        else:
            value += '\n' * breaks or ' '
        value += line
        breaks, before = 0, kept
    return value
