"""Reads the part of YAML that compose files are written in, and refuses the rest with its line.

Read are mappings and sequences in blocks and in brackets, scalars of all five styles, comments, anchors, aliases
and the merge key.  Refused are tags, keys that are no text, several documents, duplicate keys, tabs as an indent,
and what YAML itself refuses.
"""

import re

from .files import read_text
from .notes import BadInput
from .yaml_nodes import Mapping, Scalar, Sequence, fold, fold_block

DEPTH_MAX = 40
SIZE_MAX = 1 << 20
MERGED_MAX = 100000
ESCAPES = {'0': '\0', 'a': '\a', 'b': '\b', 't': '\t', '\t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r',
           'e': '\x1b', ' ': ' ', '"': '"', '/': '/', '\\': '\\', 'N': '\x85', '_': '\xa0', 'L': '\u2028',
           'P': '\u2029'}
DIGITS = {'x': 2, 'u': 4, 'U': 8}


def comment_at(text, start=0):
    """Where a comment begins, or the end."""
    match = re.compile(r'(^|(?<=[ \t]))#').search(text, start)
    return match.start() if match else len(text)


class Document:
    def __init__(self, path):
        self.path = path
        self.lines = read_text(path, SIZE_MAX).split('\n')
        self.at = self.column = self.depth = self.merged = 0
        self.anchors = {}

    def refuse(self, why, line=None):
        raise BadInput('%s:%d: %s' % (self.path, min(self.at + 1, len(self.lines)) if line is None else line, why))

    def read(self):
        self.skip()
        if self.lines[self.at:self.at + 1] and re.fullmatch(r'---([ \t]+#.*|[ \t]*)', self.lines[self.at]):
            self.at += 1
            self.skip()
        if self.at >= len(self.lines):
            self.refuse('there is nothing', 1)
        node = self.block(0)
        self.skip()
        if self.at < len(self.lines) and self.lines[self.at].rstrip() == '...':
            self.at += 1
            self.skip()
        if self.at < len(self.lines):
            self.refuse('more than one document' if self.lines[self.at].startswith('---')
                        else 'not a part of what is above')
        return node

    # --- Lines ---

    def skip(self):
        """To the next line that is neither blank nor a comment."""
        while self.at < len(self.lines):
            text = self.lines[self.at].lstrip(' ')
            if text.startswith('\t') and text.strip() and not text.strip().startswith('#'):
                self.refuse('a tab as an indent')
            if text.strip() and not text.strip().startswith('#'):
                return
            self.at += 1

    def is_end(self):
        return self.at >= len(self.lines) or self.lines[self.at].startswith(('---', '...'))

    def indent(self):
        line = self.lines[self.at]
        return len(line) - len(line.lstrip(' '))

    def deeper(self, function, *arguments):
        self.depth += 1
        if self.depth > DEPTH_MAX:
            self.refuse('more than %d levels' % DEPTH_MAX)
        node = function(*arguments)
        self.depth -= 1
        return node

    def end_of_line(self, column):
        """Nothing but a comment may follow."""
        rest = self.lines[self.at][column:]
        if rest[:comment_at(rest)].strip():
            self.refuse('not expected: ' + rest.strip())
        self.at += 1

    # --- Blocks ---

    def block(self, least):
        """The node that begins in this line, which is indented by @least or more."""
        column = self.indent()
        text = self.lines[self.at][column:]
        if column < least or self.is_end():
            self.refuse('a value is missing')
        if re.match(r'-([ \t]|$)', text):
            return self.deeper(self.sequence, column)
        if self.key_end(column):
            return self.deeper(self.mapping, column)
        return self.value(column, least - 1)

    def sequence(self, column):
        node = Sequence(self.at + 1)
        while True:
            self.skip()
            if self.is_end() or self.indent() < column:
                return node
            text = self.lines[self.at]
            if self.indent() > column:
                self.refuse('indented more than what is above')
            if not re.match(r'-([ \t]|$)', text[column:]):
                return node
            rest = text[column + 1:]
            if rest[:comment_at(rest)].strip():
                # What follows the dash is a block of its own.
                text = rest.lstrip(' \t')
                self.lines[self.at] = ' ' * (column + 1 + len(rest) - len(text)) + text
                node.items.append(self.block(column + 1))
            else:
                node.items.append(self.below(column))

    def below(self, column):
        """The value in the lines below, or null."""
        line = self.at + 1
        self.at += 1
        self.skip()
        if self.is_end() or self.indent() <= column:
            return Scalar(line, '')
        return self.block(column + 1)

    def key_end(self, column):
        """Where the key of a line ends, with where its value begins; None if it has no key."""
        text = self.lines[self.at]
        if text[column] in '"\'':
            match = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'').match(text, column)
            end = match and match.end()
            colon = end and re.compile(r'[ \t]*:(?=[ \t]|$)').match(text, end)
        elif text[column] in '[{|>%@`' or text.startswith('? ', column):
            if text.startswith('? ', column):
                self.refuse('a key that is no text')
            return None
        else:
            colon = re.compile(r'(?<![ \t])[ \t]*:(?=[ \t]|$)').search(text, column, comment_at(text, column))
            if not colon:
                colon = re.compile(r':$').search(text.rstrip(), column) if comment_at(text, column) == len(text) \
                    else None
            end = colon and colon.start()
        return (end, colon.end()) if colon else None

    def mapping(self, column):
        node = Mapping(self.at + 1)
        merges = []
        while True:
            self.skip()
            if self.is_end() or self.indent() < column:
                break
            if self.indent() > column:
                self.refuse('indented more than what is above')
            ends = self.key_end(column)
            if not ends or re.match('-([ \t]|$)', self.lines[self.at][column:]):
                self.refuse('not KEY: VALUE: ' + self.lines[self.at].strip())
            line = self.at + 1
            key = self.key(column, ends[0])
            value = self.mapped(ends[1], column)
            self.put(node, merges, key, value, line)
        return self.merge(node, merges)

    def key(self, column, end):
        text = self.lines[self.at][column:end]
        if text[:1] in ('"', "'"):
            start = self.at
            self.column = column
            key = self.quoted()
            self.at = start
            return key
        if text[:1] in ('', ',', ']', '}', '#') or re.match('[-?:]([ \t]|$)', text):
            self.refuse('not a key: ' + text)
        if text[:1] in ('*', '&', '!'):
            self.refuse('a key with a tag or an anchor')
        return text.rstrip()

    def put(self, node, merges, key, value, line):
        if key == '<<':
            merges.append((value, line))
        elif key in node.items:
            self.refuse('duplicate key %s (first in line %d)' % (key, node.lines[key]), line)
        else:
            node.items[key], node.lines[key] = value, line

    def merge(self, node, merges):
        for value, line in merges:
            for other in value.items if isinstance(value, Sequence) else [value]:
                if not isinstance(other, Mapping):
                    self.refuse('<< is not a mapping', line)
                self.merged += len(other.items)
                if self.merged > MERGED_MAX:
                    self.refuse('too much is merged', line)
                for key in other.items:
                    if key not in node.items:
                        node.items[key], node.lines[key] = other.items[key], other.lines[key]
        return node

    def mapped(self, column, parent):
        """The value after a key at column @parent."""
        text = self.lines[self.at]
        rest = text[column:comment_at(text, column)]
        if rest.strip():
            return self.value(column + len(rest) - len(rest.lstrip()), parent)
        line = self.at + 1
        self.at += 1
        self.skip()
        if self.is_end():
            return Scalar(line, '')
        its = self.indent()
        if its > parent or (its == parent and re.match('-([ \t]|$)', self.lines[self.at][its:])):
            return self.block(its)
        return Scalar(line, '')

    # --- Values ---

    def value(self, column, parent):
        """A value that begins in this line; lines that continue it are indented more than @parent."""
        text = self.lines[self.at]
        first = text[column]
        line = self.at + 1
        if first == '!':
            self.refuse('a tag')
        if first == '&':
            return self.anchored(column, parent)
        if first == '*':
            node, end = self.alias(column)
            self.end_of_line(end)
            return node
        if first in '|>':
            return self.block_scalar(column, parent)
        self.column = column
        if first in '"\'':
            node = Scalar(line, self.quoted(), True)
            self.end_of_line(self.column)
            return node
        if first in '[{':
            node = self.deeper(self.flow)
            self.end_of_line(self.column)
            return node
        return self.plain(column, parent)

    def name(self, column):
        match = re.compile(r'[&*]([^ \t,\[\]{}]{1,200})').match(self.lines[self.at], column)
        if not match:
            self.refuse('an anchor without a name')
        return match

    def anchored(self, column, parent):
        match = self.name(column)
        text = self.lines[self.at]
        rest = text[match.end():comment_at(text, match.end())]
        if not rest.strip():
            node = self.mapped(match.end(), parent)
        else:
            start = match.end() + len(rest) - len(rest.lstrip())
            if text[start] in '&*' or (text[start] not in '"\'[{|>' and self.key_end(start)):
                self.refuse('an anchor before a key, or two of them')
            node = self.value(start, parent)
        self.anchors[match.group(1)] = node
        return node

    def alias(self, column):
        match = self.name(column)
        if match.group(1) not in self.anchors:
            self.refuse('no anchor above has the name ' + match.group(1))
        return self.anchors[match.group(1)], match.end()

    def plain(self, column, parent):
        line = self.at + 1
        text = self.lines[self.at][column:]
        if text[0] in ',]}#%@`' or re.match('[-?:]([ \t]|$)', text):
            self.refuse('a value cannot begin with ' + text[0])
        found = [self.plain_part(text)]
        commented = comment_at(text) < len(text)
        self.at += 1
        while not commented and not self.is_end():
            text = self.lines[self.at].strip()
            if text and (self.indent() <= parent or text.startswith('#')):
                break
            commented = comment_at(text) < len(text)
            found.append(self.plain_part(text))
            self.at += 1
        while found and not found[-1]:
            found.pop()
        return Scalar(line, fold(found))

    def plain_part(self, text):
        text = text[:comment_at(text)].strip()
        if re.search(r':([ \t]|$)', text):
            self.refuse('a key within a value: quote it')
        return text

    def quoted(self):
        """From self.column on, over lines; self.column is behind it then."""
        start, quote = self.at, self.lines[self.at][self.column]
        self.column += 1
        parts, part = [], ''
        while True:
            text = self.lines[self.at]
            if self.column >= len(text):
                parts.append(part.rstrip(' \t'))
                part = ''
                self.at += 1
                if self.is_end():
                    self.refuse('a quotation that does not end', start + 1)
                self.column = len(self.lines[self.at]) - len(self.lines[self.at].lstrip(' \t'))
                continue
            character = text[self.column]
            self.column += 1
            if character == quote:
                if quote == "'" and text[self.column:self.column + 1] == "'":
                    part += "'"
                    self.column += 1
                    continue
                return fold(parts + [part])
            if character == '\\' and quote == '"':
                if self.column >= len(text):
                    # The next line follows without a blank.
                    part = self.joined(parts, part)
                    continue
                part += self.escape(text)
            else:
                part += character

    def joined(self, parts, part):
        self.at += 1
        if self.is_end():
            self.refuse('a quotation that does not end')
        self.column = len(self.lines[self.at]) - len(self.lines[self.at].lstrip(' \t'))
        return part

    def escape(self, text):
        character = text[self.column]
        self.column += 1
        if character in DIGITS:
            digits = text[self.column:self.column + DIGITS[character]]
            self.column += len(digits)
            if not re.fullmatch('[0-9a-fA-F]{%d}' % DIGITS[character], digits) or \
                    not 1 < int(digits, 16) < 0x110000 or 0xd800 <= int(digits, 16) < 0xe000:
                self.refuse('not a character: \\' + character + digits)
            return chr(int(digits, 16))
        if character not in ESCAPES or character == '0':
            self.refuse('an unknown escape: \\' + character)
        return ESCAPES[character]

    def block_scalar(self, column, parent):
        line, text = self.at + 1, self.lines[self.at]
        header = text[column:comment_at(text, column)].strip()
        match = re.fullmatch(r'([|>])(?:([1-9])?([-+])?|([-+])([1-9]))', header)
        if not match:
            self.refuse('not the head of a text: ' + header)
        digit, chomp = match.group(2) or match.group(5), match.group(3) or match.group(4)
        width = max(parent, 0) + int(digit) if digit else None
        found = []
        self.at += 1
        while self.at < len(self.lines):
            text = self.lines[self.at]
            its = self.indent()
            if text.strip():
                if width is None and its > parent:
                    width = its
                if width is None or its < width or its <= parent:
                    break
            found.append(text[width or len(text):] if text.strip() or width and its > width else '')
            self.at += 1
        n_blank = 0
        while found and not found[-1]:
            found.pop()
            n_blank += 1
        value = '\n'.join(found) if match.group(1) == '|' else fold_block(found)
        # The last line of the file may have no end.
        n_ends = n_blank + (self.at < len(self.lines)) - (not found)
        if chomp != '-':
            value += '\n' * (n_ends if chomp == '+' else min(n_ends, bool(found)))
        return Scalar(line, value, True)

    # --- Brackets ---

    def flow_skip(self):
        """To the next character that counts, over lines and comments."""
        while True:
            text = self.lines[self.at]
            while self.column < len(text) and text[self.column] in ' \t':
                self.column += 1
            if self.column < len(text) and \
                    not (text[self.column] == '#' and text[self.column - 1:self.column] in ('', ' ', '\t')):
                return text[self.column]
            self.at += 1
            self.column = 0
            if self.is_end():
                self.refuse('a bracket that is not closed')

    def flow(self):
        """A collection in brackets, from self.column on."""
        opened = self.lines[self.at][self.column]
        node = Sequence(self.at + 1) if opened == '[' else Mapping(self.at + 1)
        closing = ']' if opened == '[' else '}'
        merges = []
        self.column += 1
        while True:
            if self.flow_skip() == closing:
                self.column += 1
                return node if opened == '[' else self.merge(node, merges)
            line = self.at + 1
            item = self.flow_value()
            following = self.flow_skip()
            if opened == '{':
                if not isinstance(item, Scalar):
                    self.refuse('a key that is no text')
                value = Scalar(line, '')
                if following == ':':
                    self.column += 1
                    if self.flow_skip() not in ',}':
                        value = self.flow_value()
                    following = self.flow_skip()
                self.put(node, merges, item.value, value, line)
            else:
                node.items.append(item)
            if following == ',':
                self.column += 1
            elif following != closing:
                self.refuse('not expected in brackets: ' + following)

    def flow_value(self):
        text, line = self.lines[self.at], self.at + 1
        first = text[self.column]
        if first in '[{':
            return self.deeper(self.flow)
        if first in '"\'':
            return Scalar(line, self.quoted(), True)
        if first == '*':
            node, self.column = self.alias(self.column)
            return node
        if first in '!&' or first in ',]}#%@`|>':
            self.refuse('not expected in brackets: ' + first)
        match = re.compile(r'(?:[^,\[\]{}:#]|:(?![ \t,\[\]{}]|$)|(?<![ \t])#)+').match(text, self.column)
        if not match or re.match('[-?]([ \t]|$)', match.group()):
            self.refuse('not expected in brackets: ' + first)
        self.column = match.end()
        return Scalar(line, match.group().strip())
