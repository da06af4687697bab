"""compare.py KIND OLD NEW: what a later version has lost of an earlier one, a line each.

interface  descriptions of varlink: types, methods and errors may be added, and members of replies; the
           values of an enumeration may be more.  A new parameter of a method is optional.
json       documents: each member of OLD is in NEW, with the same value; the elements of an array stand in
           the same order.
lines      each line of OLD is in NEW.
"""

import json
import re
import sys

NAME = re.compile(r"\s*([A-Za-z_]\w*)")


class Text:
    """A description of an interface, read from left to right."""

    def __init__(self, text):
        self.text, self.at = re.sub(r"#[^\n]*", "", text), 0

    def take(self, token):
        match = re.compile(r"\s*" + re.escape(token)).match(self.text, self.at)
        if match:
            self.at = match.end()
        return bool(match)

    def name(self):
        match = NAME.match(self.text, self.at)
        if not match:
            sys.exit(f"no name at {self.text[self.at:self.at + 40]!r}")
        self.at = match.end()
        return match.group(1)

    def type(self):
        """Returns (optional, prefix, name), (optional, prefix, {member: type}) or (..., [value])."""
        optional, prefix = self.take("?"), ""
        while self.take("["):
            prefix += "[" + ("string" if self.take("string") else "") + "]"
            self.take("]")
        return (optional, prefix, self.members() if self.take("(") else self.name())

    def members(self):
        members, values = {}, []
        while not self.take(")"):
            name = self.name()
            if self.take(":"):
                members[name] = self.type()
            else:
                values.append(name)
            self.take(",")
        return values or members

    def definitions(self):
        """Returns {"type NAME" | "error NAME": members, "method NAME": (parameters, reply)}."""
        found = {}
        while self.text[self.at:].strip():
            kind = self.name()
            if kind == "interface":
                self.at = self.text.index("\n", self.at)
                continue
            name = f"{kind} {self.name()}"
            self.take("(")
            found[name] = self.members()
            if kind == "method":
                self.take("->")
                self.take("(")
                found[name] = (found[name], self.members())
        return found


def lost_types(where, old, new, is_parameter):
    if old[1] != new[1] or type(old[2]) is not type(new[2]):
        yield f"{where}: another type"
    elif isinstance(old[2], str):
        if old[2] != new[2]:
            yield f"{where}: {new[2]}, not {old[2]}"
    elif isinstance(old[2], list):
        for value in old[2]:
            if value not in new[2]:
                yield f"{where}: no value {value}"
    else:
        yield from lost_members(where, old[2], new[2], is_parameter)
    # What was always there stays there; what could be left out still can be.
    if old[0] != new[0] and new[0] != is_parameter:
        yield f"{where}: {'optional' if new[0] else 'required'}"


def lost_members(where, old, new, is_parameter):
    for name, kind in old.items():
        if name not in new:
            yield f"{where}: no {name}"
        else:
            yield from lost_types(f"{where}.{name}", kind, new[name], is_parameter)
    for name, kind in new.items():
        if is_parameter and name not in old and not kind[0]:
            yield f"{where}.{name}: new and required"


def lost_definitions(old, new):
    for name, members in old.items():
        if name not in new:
            yield f"no {name}"
        elif name.startswith("method"):
            yield from lost_members(name, members[0], new[name][0], True)
            yield from lost_members(name, members[1], new[name][1], False)
        else:
            yield from lost_members(name, members, new[name], False)


def lost_values(where, old, new):
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            if name not in new:
                yield f"{where}: no {name}"
            else:
                yield from lost_values(f"{where}.{name}", value, new[name])
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, value in enumerate(old):
            yield from lost_values(f"{where}[{i}]", value, new[i])
    elif old != new:
        yield f"{where}: {new}, not {old}"


def main():
    kind, old, new = sys.argv[1:]
    old, new = open(old).read(), open(new).read()
    if kind == "interface":
        lost = lost_definitions(Text(old).definitions(), Text(new).definitions())
    elif kind == "json":
        lost = lost_values("", json.loads(old), json.loads(new))
    else:
        lines = set(new.splitlines())
        lost = (f"no line: {line}" for line in old.splitlines() if line not in lines)
    lost = list(lost)
    print("\n".join(lost))
    sys.exit(1 if lost else 0)


main()
