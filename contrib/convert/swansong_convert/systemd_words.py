"""Words, specifiers and command lines of units: systemd.syntax(7), systemd.unit(5), systemd.service(5)."""

import os
import platform
import pwd
import re
import shlex

from .writer import MARK

BLANKS = ' \t\n\r'
ESCAPES = {'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\',
           '"': '"', "'": "'", 's': ' '}
NUMBERED = re.compile(r'x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})')
VARIABLE = re.compile(r'\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)\}', re.ASCII)
MACHINES = {'x86_64': 'x86-64', 'aarch64': 'arm64', 'i386': 'x86', 'i686': 'x86', 'armv7l': 'arm'}


class Lexer:
    """Takes words from a text, with quotes and escapes of C."""

    def __init__(self, text):
        self.text, self.at = text, 0
        self.skip_blanks()

    def skip_blanks(self):
        while self.at < len(self.text) and self.text[self.at] in BLANKS:
            self.at += 1

    def is_at_end(self):
        return self.at >= len(self.text)

    def is_next(self, token):
        """Returns true if the word to come is @token, which is skipped then."""
        end = self.at + len(token)
        if self.text.startswith(token, self.at) and self.text[end:end + 1] in ('', *BLANKS):
            self.at = end
            self.skip_blanks()
            return True
        return False

    def escape(self):
        match = NUMBERED.match(self.text, self.at)
        if match:
            self.at = match.end()
            octal = match.group(2)
            code = int(octal, 8) if octal else int(next(g for g in match.groups() if g), 16)
            if code in (0, 1) or code > 0x10ffff or 0xd800 <= code < 0xe000:
                raise ValueError('a character that cannot be written')
            return chr(code)
        character = self.text[self.at:self.at + 1]
        if character not in ESCAPES:
            raise ValueError('an unknown escape \\%s' % character)
        self.at += 1
        return ESCAPES[character]

    def take(self):
        word, quote = '', None
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 1
            if character == '\\':
                word += self.escape()
            elif quote:
                if character == quote:
                    quote = None
                else:
                    word += character
            elif character in '\'"':
                quote = character
            elif character in BLANKS:
                break
            else:
                word += character
        if quote:
            raise ValueError('a quotation that does not end')
        self.skip_blanks()
        return word


def split(text):
    words, found = Lexer(text), []
    while not words.is_at_end():
        found.append(words.take())
    return found


# --- Specifiers -----------------------------------------------------------------------------------

def unescape(text):
    """The reverse of systemd-escape(1)."""
    if text == MARK:
        return MARK
    data = re.sub(r'\\x([0-9a-f]{2})|-',
                  lambda m: chr(int(m.group(1), 16)) if m.group(1) else '/', text)
    data = data.encode('latin-1', 'replace').decode('utf-8', 'replace')
    if not data.isprintable():
        raise ValueError('an instance with a character that cannot be written')
    return data


def machine_id():
    try:
        with open('/etc/machine-id', encoding='ascii') as file:
            return re.fullmatch('([0-9a-f]{32})\n?', file.read(64)).group(1)
    except (OSError, AttributeError, UnicodeError):
        raise ValueError('%m: this machine has no ID') from None


def account(user):
    try:
        return pwd.getpwuid(int(user)) if user.isdigit() else pwd.getpwnam(user)
    except (KeyError, OverflowError, ValueError):
        return None


class Specifiers:
    """What %x stands for in the values of one unit, for the manager of the system."""

    FIXED = {'%': '%', 't': '/run', 'S': '/var/lib', 'C': '/var/cache', 'L': '/var/log', 'E': '/etc',
             'T': '/tmp', 'V': '/var/tmp', 'h': '/root', 'u': 'root', 'U': '0', 'g': 'root', 'G': '0',
             's': '/bin/sh', 'D': '/usr/share'}

    def __init__(self, unit):
        self.unit = unit

    def get(self, letter):
        unit, name = self.unit, self.unit.name
        instance = unit.instance or ''
        full = '%s@%s' % (name.prefix, instance) if '@' in name.full else name.prefix
        if letter in self.FIXED:
            return self.FIXED[letter]
        found = {
            'n': lambda: full + '.' + name.kind, 'N': lambda: full,
            'p': lambda: name.prefix, 'P': lambda: unescape(name.prefix),
            'i': lambda: instance, 'I': lambda: unescape(instance),
            'j': lambda: name.prefix.rsplit('-', 1)[-1],
            'J': lambda: unescape(name.prefix.rsplit('-', 1)[-1]),
            'f': lambda: '/' + unescape(instance or name.prefix).lstrip('/'),
            'y': lambda: os.path.abspath(unit.path),
            'Y': lambda: os.path.dirname(os.path.abspath(unit.path)),
            'H': platform.node, 'l': lambda: platform.node().split('.')[0],
            'v': platform.release, 'm': machine_id,
            'a': lambda: MACHINES.get(platform.machine(), platform.machine()),
        }.get(letter)
        if not found:
            raise ValueError('the specifier %%%s is not known here' % letter)
        return found()

    def expand(self, text):
        out, at = '', 0
        while True:
            found = text.find('%', at)
            if found < 0 or found + 1 == len(text):
                return out + text[at:]
            out += text[at:found] + self.get(text[found + 1])
            at = found + 2
            if len(out) > 1 << 20:
                raise ValueError('a value that is too long')


# --- Command lines --------------------------------------------------------------------------------

class Command:
    """One command of an Exec...= line: words, each of which may have variables."""

    def __init__(self, option):
        self.option = option
        self.prefixes = ''
        self.words = []

    def has(self, prefix):
        return prefix in self.prefixes

    def program(self):
        return os.path.basename(self.words[0]) if self.words else ''

    def variables(self):
        """Names that are replaced when the command starts."""
        if self.has(':'):
            return []
        names = [word[1:] for word in self.words[1:] if is_split(word)]
        return names + [match.group(1) for word in self.words[1:] for match in VARIABLE.finditer(word)
                        if match.group(1)]

    def plain_words(self, environment):
        """The words, with variables from @environment, which has all of them."""
        if self.has(':'):
            return self.words
        found = self.words[:1]
        for word in self.words[1:]:
            if is_split(word):
                found += split(environment[word[1:]])
            else:
                found.append(VARIABLE.sub(
                    lambda m: environment[m.group(1)] if m.group(1) else '$', word))
        return found

    def script(self):
        """For sh -f: variables are replaced by the shell, in words and as words."""
        found = [shlex.quote(self.words[0])]
        for word in self.words[1:]:
            if is_split(word) and not self.has(':'):
                found.append(word)
                continue
            text, at, out = word, 0, ''
            for match in () if self.has(':') else VARIABLE.finditer(word):
                out += quote_part(text[at:match.start()])
                out += '"${%s}"' % match.group(1) if match.group(1) else "'$'"
                at = match.end()
            found.append(out + quote_part(text[at:]) or "''")
        return ' '.join(found)


def quote_part(text):
    return shlex.quote(text) if text else ''


def is_split(word):
    """Returns true if a word is $NAME, which becomes as many words as the value has."""
    return re.fullmatch(r'\$[A-Za-z_][A-Za-z0-9_]*', word, re.ASCII) is not None


def take_command(words, option, specifiers):
    command = Command(option)
    first = words.take()
    while first[:1] and first[0] in '-@:+!|':
        command.prefixes += first[0]
        first = first[1:]
    if not first and not words.is_at_end():
        first = words.take()
    command.words.append(specifiers.expand(first))
    if not command.words[0]:
        raise ValueError('no program')
    if command.has('@') and not words.is_at_end():
        words.take()
    while not words.is_at_end():
        if words.is_next(';'):
            break
        command.words.append(';' if words.is_next('\\;') else specifiers.expand(words.take()))
    return command


def read_commands(option, specifiers):
    """The commands of one line, which ; separates."""
    words, commands = Lexer(option.value), []
    while not words.is_at_end():
        commands.append(take_command(words, option, specifiers))
    return commands


def kill_signal_of(command):
    """The signal of "kill -HUP $MAINPID", or None."""
    words = command.words
    if command.program() != 'kill' or len(words) < 3 or words[-1] not in ('$MAINPID', '${MAINPID}'):
        return None
    if len(words) == 3 and words[1].startswith('-'):
        return words[1][1:]
    return words[2] if len(words) == 4 and words[1] == '-s' else None
