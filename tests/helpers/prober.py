"""A prober from outside, and the comparison of what it has seen with the ledger of availability.

usage: prober.py probe PORT FILE	every 10 ms a connection; FILE gets "USEC up" and "USEC down" at each change, and at
			the end its time and the mean lateness of the connections
       prober.py compare FILE NODE	with the reply of swansongctl availability --json NODE from standard input
"""
import json
import signal
import socket
import sys
import time

INTERVAL = 0.01


def now():
    return time.time_ns() // 1000


def is_up(port):
    try:
        socket.create_connection(('127.0.0.1', port), 1).close()
        return True
    except OSError:
        return False


def probe(port, path):
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    before, at, late, turns = None, time.monotonic(), 0, 0
    with open(path, 'w', buffering=1, encoding='ascii') as out:
        while not ended:
            usec = now()
            up = is_up(port)
            if up != before:
                print(usec, 'up' if up else 'down', file=out)
            before = up
            at = max(at + INTERVAL, time.monotonic() - INTERVAL)
            time.sleep(max(0, at - time.monotonic()))
            late += max(0, time.monotonic() - at)
            turns += 1
        print(now(), int(1e6 * late / max(turns, 1)), file=out)


def down_spans(path):
    with open(path, encoding='ascii') as lines:
        changes = [(int(usec), word) for usec, word in (line.split() for line in lines)]
    spans = [(usec, changes[i + 1][0]) for i, (usec, word) in enumerate(changes[:-1]) if word == 'down']
    return changes[0][0], changes[-1][0], spans, int(changes[-1][1])


def outside(span, others):
    """The part of the span that is in none of the others, which do not overlap."""
    return span[1] - span[0] - sum(max(0, min(span[1], b) - max(span[0], a)) for a, b in others)


def compare(path, name):
    begin, end, probed, late = down_spans(path)
    node, = (n for n in json.load(sys.stdin)['nodes'] if n['node'] == name)
    since, until = max(begin, node['since_usec']), min(end, node['until_usec'])
    unknown = [(s['from_usec'], s['until_usec']) for s in node['outages'] if s['cause'] == 'unknown']
    known = [(s['from_usec'], s['until_usec']) for s in node['outages'] if s['cause'] != 'unknown']
    edges = [(0, since), (until, 1 << 62)]
    total = outside((since, until), unknown)
    seen = sum(outside(span, unknown + edges) for span in probed)
    kept = sum(outside(span, edges) for span in known)
    # A machine that lets the prober wait lets the daemon and the service wait, too: at both ends of an outage.
    beyond = max(0, abs(seen - kept) - 2 * late * len(known))
    print(json.dumps({'total_usec': total, 'probed_usec': seen, 'ledger_usec': kept, 'probed': len(probed),
                      'ledger': len(known), 'unknown': len(unknown),
                      'late_usec': late,
                      'of_the_run': beyond / total, 'of_the_outages': abs(seen - kept) / seen}))


if sys.argv[1] == 'probe':
    probe(int(sys.argv[2]), sys.argv[3])
else:
    compare(sys.argv[2], sys.argv[3])
