"""Standard streams of a unit, and its working directory."""

from .values import is_path
from .writer import Text


def put_output(service):
    reader, values = service.reader, service.values
    directory = service.get_directory()
    if directory:
        values['directory'] = Text(directory, path=True)
    put_input(service)
    stdout = place(service, 'StandardOutput')
    error = reader.option('StandardError')
    stderr = stdout if not error or error.value == 'inherit' else place(service, 'StandardError')
    if stdout == stderr:
        if stdout:
            values['log'] = Text(stdout, path=True)
        return
    for key, its in (('stdout', stdout), ('stderr', stderr)):
        if its:
            values[key] = Text(its, path=True)


def path_of(service, option, text):
    path = service.reader.attempt(option, service.reader.specifiers.expand, text)
    if path and is_path(path):
        return path
    service.reader.leave_out(option, 'not an absolute path that can be written')
    return None


def put_input(service):
    reader = service.reader
    option = reader.option('StandardInput')
    word, _, rest = option.value.partition(':') if option else ('null', '', '')
    if word == 'file':
        path = path_of(service, option, rest)
        if path:
            service.values['stdin'] = Text('file:' + path, path=True)
    elif word == 'socket' and service.unit.sockets:
        command = service.values['command']
        streams = '<&3 >&3' if reader.get('StandardOutput', 'inherit') in ('inherit', 'socket') else '<&3'
        command.words = ['/bin/sh', '-c', 'unset LISTEN_FDS LISTEN_PID LISTEN_FDNAMES; '
                         'exec "$@" %s 3<&-' % streams, 'sh'] + command.words
    elif word != 'null':
        reader.leave_out(option, 'it is /dev/null, or terminal = yes is that of swansongd')


def place(service, key):
    """Where a stream goes, as log has it; None for the journal, as the log of swansongd goes there, too."""
    option = service.reader.option(key)
    word, _, rest = option.value.partition(':') if option else ('journal', '', '')
    if word in ('journal', 'inherit', 'socket'):
        if word == 'socket' and not service.unit.sockets:
            service.reader.leave_out(option, 'there is no socket of its own')
        return None
    if word == 'null':
        return 'null'
    if word in ('file', 'append', 'truncate'):
        path = path_of(service, option, rest)
        if path and word == 'truncate':
            service.node.note(option, key, 'the end of the file is written to')
        return path and 'file:' + path
    if word in ('syslog', 'kmsg', 'journal+console', 'syslog+console', 'kmsg+console'):
        service.node.note(option, key, 'it goes where the output of each service goes')
        return None
    service.reader.leave_out(option, 'it goes where the output of each service goes')
    return None
