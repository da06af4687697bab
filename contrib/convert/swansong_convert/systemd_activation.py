"""Sockets and timers of a service: listen and schedule in its section."""

import ipaddress
import re

from .systemd_reader import Reader
from .values import is_account, read_number, span_text
from .writer import MARK, Text, Words

SOCKET_MAX = 107
LISTEN_MAX = 250
SOCKET_SILENT = {'RemoveOnStop', 'Backlog', 'Service', 'DeferTrigger'}
SOCKET_REASONS = {
    'ListenSequentialPacket': 'listen has streams and datagrams: tcp, udp and unix',
    'ListenFIFO': 'listen has sockets only', 'ListenSpecial': 'listen has sockets only',
    'ListenNetlink': 'listen has tcp, udp and unix', 'ListenMessageQueue': 'listen has sockets only',
    'ListenUSBFunction': 'listen has sockets only',
    'Backlog': 'it is as large as the system allows', 'DirectoryMode': 'directories are made with mode 0755',
    'MaxConnections': 'one process serves all connections',
    'MaxConnectionsPerSource': 'one process serves all connections',
    'Symlinks': 'there are no links to a socket',
    'TriggerLimitIntervalSec': 'restart-limit applies', 'TriggerLimitBurst': 'restart-limit applies',
    'PollLimitIntervalSec': 'restart-limit applies', 'PollLimitBurst': 'restart-limit applies',
    'BindIPv6Only': '[::] accepts IPv4, too',
    'SocketProtocol': 'listen has tcp and udp', 'FlushPending': 'connections wait for the next start',
    'Writable': 'listen has sockets only', 'Timestamping': 'the service can set options of its socket',
}
OPTIONS = 'the service can set options of its sockets itself'
TIMER_SILENT = {'AccuracySec', 'Unit', 'OnCalendar', 'OnBootSec', 'OnStartupSec', 'OnActiveSec',
                'OnUnitActiveSec', 'OnUnitInactiveSec', 'RandomizedDelaySec', 'Persistent'}
TIMER_REASONS = {
    'FixedRandomDelay': 'each delay is another one', 'WakeSystem': 'the machine is not woken',
    'OnClockChange': 'a schedule has times only', 'OnTimezoneChange': 'a schedule has times only',
    'RemainAfterElapse': 'the schedule goes on',
}


def leave_out_rest(reader, asked, reasons, other):
    for section, option in reader.unit.assignments:
        if section == reader.section and option.name not in asked and option.value and \
                not option.name.startswith('X-') and option in reader.unit.all(section, option.name):
            if option.value.lower() not in ('no', 'false', 'off', '0') or option.name in SOCKET_REASONS:
                reader.leave_out(option, reasons.get(option.name, other))


# --- Sockets --------------------------------------------------------------------------------------

def read_port(text):
    return text if MARK in text and re.fullmatch('[0-9%s]{1,5}' % MARK, text) else str(read_number(text, 1, 65535))


def inet_address(text):
    """ADDRESS:PORT of ours for a port, or an address with a port."""
    if ':' not in text:
        return '[::]:' + read_port(text)
    host, _, port = text.rpartition(':')
    if host.startswith('[') and host.endswith(']'):
        return '[%s]:%s' % (ipaddress.IPv6Address(host[1:-1].split('%')[0]), read_port(port))
    return '%s:%s' % (ipaddress.IPv4Address(host), read_port(port))


def socket_word(reader, option, stream, options):
    """One socket of listen, or None with a note."""
    text = reader.attempt(option, reader.specifiers.expand, option.value)
    if not text:
        return None
    name = ',name=' + options['name']
    if text.startswith('/'):
        if not stream:
            reader.leave_out(option, 'listen has no datagrams of unix')
        elif len(text.encode()) > SOCKET_MAX or ',' in text:
            reader.leave_out(option, 'a path of at most %d bytes without a comma' % SOCKET_MAX)
        else:
            return 'unix:%s%s%s' % (text, options['rights'], name)
        return None
    if text.startswith('@') or text.startswith('vsock:'):
        reader.leave_out(option, 'listen has tcp, udp and unix with a path')
        return None
    try:
        return '%s:%s%s' % ('tcp' if stream else 'udp', inet_address(text), name)
    except ValueError:
        reader.leave_out(option, 'not a port, and not an address with a port')
        return None


def socket_options(reader, unit):
    mode = reader.get('SocketMode', '0666')
    if not re.fullmatch('[0-7]{1,4}', mode) or int(mode, 8) > 0o777:
        reader.leave_out(reader.option('SocketMode'), 'not permissions of at most 0777')
        mode = '0600'
    rights = ',mode=%04o' % int(mode, 8)
    for key, word in (('SocketUser', 'owner'), ('SocketGroup', 'group')):
        value = reader.expanded(key)
        if value and is_account(value):
            rights += ',%s=%s' % (word, value)
        elif value:
            reader.leave_out(reader.option(key), 'not the name of an account')
    name = reader.expanded('FileDescriptorName') or unit.name.full.replace('@.', '@%s.' % MARK)
    if not re.fullmatch(r'[!-+\--9;-~%s]{1,255}' % MARK, name):
        name = 'listen'
    return {'rights': rights, 'name': name.replace(MARK, unit.instance or '')}


def put_sockets(service, node):
    """listen for all sockets of a service; autostart, if nothing else starts it."""
    found = []
    for unit in service.unit.sockets:
        reader = Reader(unit, 'Socket', node)
        options = socket_options(reader, unit)
        for key, stream in (('ListenStream', True), ('ListenDatagram', False)):
            for option in reader.options(key):
                word = socket_word(reader, option, stream, options)
                if word:
                    found.append(word)
        if reader.boolean('Accept'):
            reader.leave_out(reader.option('Accept'), 'one process serves all connections')
        for key in ('ExecStartPre', 'ExecStartPost', 'ExecStopPre', 'ExecStopPost'):
            for option in reader.options(key):
                reader.leave_out(option, 'a socket has no commands')
        leave_out_rest(reader, reader.asked | SOCKET_SILENT, SOCKET_REASONS, OPTIONS)
    for word in list(found):
        both = word.replace(':0.0.0.0:', ':[::]:', 1)
        if both != word and both in found:
            node.note(service.unit.place(), 'listen', 'one socket for IPv4 and IPv6: ' + both.split(',')[0])
            found.remove(word)
    if len(found) > LISTEN_MAX:
        node.note(service.unit.place(), 'listen', '%d sockets are the most' % LISTEN_MAX)
    if found:
        service.values['listen'] = Words(dict.fromkeys(found[:LISTEN_MAX]))


# --- Timers ---------------------------------------------------------------------------------------

NUMBERS = r'(\*|\d{1,2}(\.\.\d{1,2})?)(/\d{1,2})?'
LIST = r'%s(,%s)*' % (NUMBERS, NUMBERS)
DAYS = '(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*'
WEEKDAYS = re.compile(r'%s(\.\.%s)?(,%s(\.\.%s)?)*' % (DAYS, DAYS, DAYS, DAYS), re.IGNORECASE)
DATE = re.compile(r'(\*-)?%s-%s' % (LIST, LIST), re.ASCII)
ZONE = re.compile(r'[A-Z][A-Za-z]+(/[A-Za-z_+-][A-Za-z0-9_+-]*)+')
TIME = re.compile(r'%s:%s(:%s)?' % (LIST, LIST, LIST), re.ASCII)
NAMES = {'minutely': 'minutely', 'hourly': 'hourly', 'daily': 'daily', 'weekly': 'weekly',
         'monthly': 'monthly', 'yearly': 'yearly', 'annually': 'yearly',
         'quarterly': '*-01,04,07,10-01 00:00', 'semiannually': '*-01,07-01 00:00'}


def in_bounds(text, bounds):
    """Numbers between the least and the most, ranges that do not go backwards, steps that are any."""
    for part, (least, most) in zip(re.split('[-:]', text), bounds):
        for item in part.split(','):
            item, _, step = item.partition('/')
            ends = [int(end) for end in item.split('..') if end != '*']
            if any(not least <= end <= most for end in ends) or ends != sorted(ends) or \
                    (step and not 1 <= int(step) <= most):
                return False
    return True


def calendar(text):
    """A calendar of systemd.time(7) in the words of schedule, and its timezone or None."""
    words = [word.rstrip(',') for word in text.replace(', ', ',').split()]
    zone, timezone = [], None
    if words and words[-1] == 'UTC':
        zone = [words.pop()]
    elif len(words) > 1 and ZONE.fullmatch(words[-1]):
        timezone = words.pop()
    return calendar_words(words, zone), timezone


def calendar_words(words, zone):
    if len(words) == 1 and words[0].lower() in NAMES:
        return ' '.join([NAMES[words[0].lower()]] + zone)
    found = []
    if words and WEEKDAYS.fullmatch(words[0]):
        found.append(words.pop(0))
    if words and DATE.fullmatch(words[0]) and in_bounds(words[0].removeprefix('*-'), ((1, 12), (1, 31))):
        found.append(words.pop(0))
    if words and TIME.fullmatch(words[0]) and in_bounds(words[0], ((0, 23), (0, 59), (0, 59))):
        found.append(words.pop(0))
    if words or not found:
        raise ValueError('schedule has weekdays, month and day, and time, local, UTC or of a zone such as Europe/Berlin')
    return ' '.join(found + zone)


def put_timers(service, node, tree):
    """schedule for the timers of a service: one calendar, or one interval."""
    values = service.values
    for unit in service.unit.timers:
        reader = Reader(unit, 'Timer', node)
        for option in reader.options('OnCalendar'):
            if 'schedule' in values:
                reader.leave_out(option, 'a service has one schedule: one more service can have the other')
                continue
            try:
                text, timezone = calendar(option.value)
            except ValueError as error:
                reader.leave_out(option, str(error))
                continue
            values['schedule'] = Text(text)
            if timezone:
                values['timezone'] = Text(timezone)
        put_interval(reader, node, values)
        if reader.boolean('Persistent') and 'schedule' in values:
            tree.root.values.setdefault('state', Text('/var/lib/swansong/state'))
        jitter = reader.span('RandomizedDelaySec', 0)
        if jitter and 'schedule' in values:
            values['schedule-jitter'] = Text(span_text(jitter))
        leave_out_rest(reader, TIMER_SILENT, TIMER_REASONS, 'it is not a key of [Timer] that is known here')
    if 'schedule' in values:
        values.pop('autostart', None)


def put_interval(reader, node, values):
    every = reader.span('OnUnitActiveSec') or reader.span('OnUnitInactiveSec')
    option = reader.option('OnUnitActiveSec') or reader.option('OnUnitInactiveSec')
    if every and 'schedule' not in values:
        values['schedule'] = Text(span_text(min(max(every, 100000), 1 << 60)))
        if option.name == 'OnUnitInactiveSec':
            node.note(option, option.name, 'from the start of one run to that of the next')
    elif option:
        reader.leave_out(option, 'a service has one schedule')
    for key in ('OnBootSec', 'OnStartupSec', 'OnActiveSec'):
        first = reader.option(key)
        if not first:
            continue
        if 'schedule' in values:
            node.note(first, key, 'the first run is one interval, or its time, after the start of swansongd')
        else:
            reader.leave_out(first, 'a schedule is an interval or a calendar: autostart = yes runs it at the start')
