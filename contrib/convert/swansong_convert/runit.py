"""Service directories of runit, and folders of them."""

import os
import re

from .folders import find, finish_words, make_root, put_run
from .values import Paths, is_path
from .writer import Commands, Node, Text, Words, arranged, header


def convert_folder(folder, node):
    values = node.values
    put_run(folder, values)
    if folder.has('down'):
        values['autostart'] = Text('no')
    check = folder.file('check')
    if check:
        values['ready'] = Words(['exec:' + check])
    finish = folder.file('finish')
    if finish:
        values['post-stop'] = Commands([finish_words(finish, '-1')])
        node.note(folder.option('finish'), 'finish', 'after a signal its second argument is 0')
    for name in folder.names('control'):
        path = folder.file(os.path.join('control', name))
        if path and name == 't':
            values['stop-command'] = Commands([[path]])
        elif path and name == 'h':
            values['reload-command'] = Commands([[path]])
        else:
            node.leave_out(folder.option(os.path.join('control', name)), 'control/' + name,
                           'signals are sent by swansongctl signal, without a command')
    put_log(folder, node)
    node.note(folder.option('run'), 'stop-timeout', 'runit kills nothing by itself; here it is killed after 10s')


def put_log(folder, node):
    """svlogd with one folder is a file of the logger here; anything else is a pipe to another service."""
    if not folder.file('log/run'):
        return
    found = [re.search(r'\bsvlogd\b.*\s(/\S+)$', line) for _, line in folder.lines('log/run')]
    path = next((match.group(1) for match in found if match), None)
    option = folder.option('log/run')
    if path and is_path(path + '/current') and '$' not in path:
        node.values['log'] = Text('file:%s/current' % path.rstrip('/'), path=True)
        node.note(option, 'log/run', 'the file is written by swansong-logger: see log-size and log-keep')
    else:
        node.leave_out(option, 'log/run', 'there is no pipe between services: log sets a destination')


def convert(paths, report):
    taken, nodes = Paths(), []
    for folder in find(paths, 'run'):
        node = Node(taken.take(folder.name), folder.name, report)
        node.note_name(folder.option('run'), folder.name)
        if folder.file('run'):
            convert_folder(folder, node)
            node.values = arranged(node.values)
        else:
            node.leave_out(folder.option('run'), 'run', 'it is not a file')
        nodes.append(node)
    return '\n'.join([header(paths), make_root(report, 'runit').text(), *(node.text() for node in nodes)])
