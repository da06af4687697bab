"""Values as several supervisors write them, and as swansong.ini(5) does: times, sizes, signals, names."""

import re
import signal

from .writer import MARK

INFINITY = 1 << 63  # microseconds and more
CAPABILITIES = '''
    chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap linux_immutable
    net_bind_service net_broadcast net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio sys_chroot
    sys_ptrace sys_pacct sys_admin sys_boot sys_nice sys_resource sys_time sys_tty_config mknod lease
    audit_write audit_control setfcap mac_override mac_admin syslog wake_alarm block_suspend audit_read
    perfmon bpf checkpoint_restore'''.split()
SPAN = re.compile(r'(\d{1,18})(?:\.(\d{1,18}))?\s*([a-zA-Zµμ]*)')
SPAN_UNITS = {}
for words, usec in (('ns nsec', 0.001), ('us usec µs μs', 1), ('ms msec', 1000),
                    ('s sec second seconds', 1000000), ('m min minute minutes', 60000000),
                    ('h hr hour hours', 3600000000), ('d day days', 86400000000),
                    ('w week weeks', 604800000000), ('M month months', 2629800000000),
                    ('y year years', 31557600000000)):
    SPAN_UNITS.update((word, usec) for word in words.split())


def read_span(text, unit='s'):
    """Microseconds of "1min 30s", as in systemd.time(7); compose and s6 have parts of it."""
    text = text.strip()
    if text == 'infinity':
        return INFINITY
    total, at = 0, 0
    while at < len(text):
        match = SPAN.match(text, at)
        if not match or (match.group(3) or unit) not in SPAN_UNITS:
            raise ValueError('not a time')
        usec = SPAN_UNITS[match.group(3) or unit]
        total += int(match.group(1)) * usec
        if match.group(2):
            total += int(match.group(2)) * usec / 10 ** len(match.group(2))
        at = match.end()
        while at < len(text) and text[at].isspace():
            at += 1
    if not text:
        raise ValueError('not a time')
    return min(int(total), INFINITY)


def span_text(usec):
    """A duration; less than a millisecond is one."""
    if usec >= INFINITY:
        return 'infinity'
    msec = -(-usec // 1000)
    for unit, name in ((3600000, 'h'), (60000, 'min'), (1000, 's')):
        if msec and msec % unit == 0:
            return '%d%s' % (msec // unit, name)
    return '%dms' % msec if msec else '0'


def seconds_of(usec):
    """For the sum of a shutdown, in which an infinite time has no place."""
    return -(-usec // 1000000) if usec < INFINITY else 0


def read_size(text, base=1024):
    """Bytes of "512M", of "1.5g" or "2gb"; None is no limit."""
    if text.strip().lower() in ('infinity', 'unlimited', '-1'):
        return None
    match = re.fullmatch(r'(\d{1,18})(?:\.(\d{1,9}))?\s*([kmgtpe]?)(i?b)?', text.strip().lower())
    if not match:
        raise ValueError('not a size')
    unit = base ** ('kmgtpe'.index(match.group(3)) + 1) if match.group(3) else 1
    part = int(match.group(2)) * unit // 10 ** len(match.group(2)) if match.group(2) else 0
    return int(match.group(1)) * unit + part


def read_signal(text):
    """A name without SIG, or the number of one that has none."""
    text = text.strip().upper()
    if text.isascii() and text.isdigit():
        number = int(text[:4])
        if not 1 <= number <= 64:
            raise ValueError('not a signal')
        try:
            return signal.Signals(number).name[3:]
        except ValueError:
            return str(number)
    name = text.removeprefix('SIG')
    if re.fullmatch(r'RTMIN(\+([0-9]|[12][0-9]|30))?|RTMAX(-([0-9]|[12][0-9]|30))?', name):
        return name
    if 'SIG' + name not in signal.Signals.__members__:
        raise ValueError('not a signal')
    return name


def read_boolean(text):
    word = text.strip().lower()
    if word in ('1', 'yes', 'y', 'true', 't', 'on'):
        return True
    if word in ('0', 'no', 'n', 'false', 'f', 'off'):
        return False
    raise ValueError('not a boolean')


def read_number(text, least, most):
    if not re.fullmatch(r'[-+]?\d{1,18}', text.strip(), re.ASCII):
        raise ValueError('not a number')
    number = int(text)
    if not least <= number <= most:
        raise ValueError('not within %d to %d' % (least, most))
    return number


def read_mode(text, most=0o777):
    if not re.fullmatch('[0-7]{1,5}', text) or int(text, 8) > most:
        raise ValueError('not permissions of at most %04o' % most)
    return '%04o' % int(text, 8)


def is_variable(name):
    return re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', name, re.ASCII) is not None and name != 'SWANSONG_NODE'


def is_account(name):
    """The name of a user or group, or a number."""
    return re.fullmatch('[A-Za-z_][A-Za-z0-9_.-]*[$]?', name, re.ASCII) is not None or \
        (re.fullmatch('[0-9]{1,10}', name, re.ASCII) is not None and int(name) < (1 << 32) - 1)


def is_path(text):
    """An absolute path that can be written without quotes."""
    return text.startswith('/') and not re.search(r'[\n"\']|\s;|\s$', text) and len(text) < 4096


def node_part(name):
    """A part of a path of ours for a name of theirs; MARK is not one of its characters."""
    part = re.sub('[^A-Za-z0-9_.@-]', '_', name.strip())[:150] or '_'
    return part + '_' if part in ('.', '..') else part


class Paths:
    """Paths for names, no two of them the same."""

    def __init__(self):
        self.taken = {'swansong', 'root'}

    def take(self, name):
        path = node_part(name)
        while path in self.taken:
            path = path[:-1] + '_@' if path.endswith('@') else path + '_'
        self.taken.add(path)
        return path


def has_mark(value):
    return MARK in str(value)
