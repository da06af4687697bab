"""The command line: a reader by its name, or by the name of the command."""

import argparse
import importlib
import os
import sys

from .notes import BadInput, Report
from .writer import one_line

# The module of each reader, and its arguments.
READERS = {
    'supervisord': ('supervisord_tree', 'supervisord.conf', 'the supervisord.conf'),
    'systemd': ('systemd', 'UNIT', 'units of systemd: files, folders of them, or names'),
    'compose': ('compose', 'FILE', 'a compose file, compose.yaml'),
    'procfile': ('procfile', 'Procfile', 'a Procfile'),
    'runit': ('runit', 'FOLDER', 'service directories of runit, or folders of them'),
    's6-rc': ('s6rc', 'FOLDER', 'source directories of s6-rc'),
}
EPILOG = 'Exit status: 0 all of it; 1 something was not carried over, and is named; ' \
         '2 the input is bad, and nothing is written.'


def add_options(parser, reader):
    module, metavar, text = READERS[reader]
    parser.add_argument('-o', '--output', metavar='FILE', help='write here, not to standard output')
    many = reader in ('systemd', 'runit', 's6-rc')
    parser.add_argument('files', metavar=metavar, nargs='+' if many else 1, help=text)
    parser.epilog = EPILOG


def parse(name, words):
    """The options, with the reader: supervisord2swansong FILE is swansong-convert supervisord FILE."""
    reader = name.removesuffix('2swansong')
    if reader in READERS:
        parser = argparse.ArgumentParser(
            prog=name, description='Write a configuration of swansongd from one of %s.' % reader)
        add_options(parser, reader)
        options = parser.parse_args(words)
        options.reader = reader
        return options
    parser = argparse.ArgumentParser(
        prog='swansong-convert', epilog=EPILOG,
        description='Write a configuration of swansongd from one of another supervisor.')
    readers = parser.add_subparsers(dest='reader', metavar='READER', required=True)
    for reader in READERS:
        add_options(readers.add_parser(reader, help='read ' + READERS[reader][2]), reader)
    return parser.parse_args(words)


def write(text, path):
    data = (text.rstrip('\n') + '\n').encode('utf-8')
    if path:
        with open(path, 'wb') as file:
            file.write(data)
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()


def main(words=None):
    options = parse(os.path.basename(sys.argv[0]), sys.argv[1:] if words is None else words)
    reader = importlib.import_module('.' + READERS[options.reader][0], __package__)
    report = Report()
    try:
        write(reader.convert(options.files, report), options.output)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(one_line('%s: %s' % (error.filename or 'swansong-convert', error.strerror or error)),
              file=sys.stderr)
        return 2
    except UnicodeEncodeError as error:
        print('swansong-convert: %s' % error, file=sys.stderr)
        return 2
    except (MemoryError, RecursionError) as error:
        print('swansong-convert: the input is too large: %s' % type(error).__name__, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 1 if report.left_out else 0
