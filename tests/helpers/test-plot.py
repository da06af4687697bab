#!/usr/bin/python3
"""Tests of contrib/plot/plot, which is $SWANSONG_PLOT, by itself and by `swansongctl plot`, which is $SWANSONGCTL.

Results are TAP.
"""

import importlib.machinery
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

LOADER = importlib.machinery.SourceFileLoader("plot", os.environ["SWANSONG_PLOT"])
plot = importlib.util.module_from_spec(importlib.util.spec_from_loader("plot", LOADER))
LOADER.exec_module(plot)

HEAD = {"format": 1, "version": "1", "host": "h", "pid": 1, "time_usec": 1700000000000000,
        "cause": "asked by <me> & you", "signal": "SIGTERM", "forced": True, "status": 124,
        "total_usec": 2000000, "budget_usec": 1800000, "lost": 0}


def node(path, complete_usec, *states, guards=(), **more):
    return {"path": path, "service": bool(states), "generation": 1, "stop_usec": 0, "complete_usec": complete_usec,
            "forced": False, "after": [], "states": [{"state": state, "at_usec": at} for state, at in states],
            "guards": list(guards), **more}


# redis waits for nginx, which does not end by itself; and a guard is held on data.
LEASE = {"id": 9, "kind": "lease", "pid": 77, "command": "dump", "why": "<b>", "taken_usec": -5000000,
         "gone_usec": 1000000, "end": "revoked"}
PROCESS = {"id": 1, "kind": "process", "pid": 12, "command": "redis-server", "taken_usec": -9000000,
           "gone_usec": 1900000, "end": "ended"}
REPORT = {**HEAD, "nodes": [
    node("", 2000000),
    node("data", 1900000, guards=[LEASE]),
    node("data/redis", 1900000, ("up", 0), ("waiting", 1), ("stopping", 1500000), ("down", 1900000),
         guards=[PROCESS], after=["web"]),
    node("web", 1500000),
    node("web/nginx", 1500000, ("up", 0), ("draining", 0), ("stopping", 300000), ("killing", 1300000),
         ("down", 1500000), late_usec=1300000),
]}


def draw(data):
    """Returns the exit status, the picture, and the messages."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data if isinstance(data, bytes) else json.dumps(data).encode())
        file.flush()
        run = subprocess.run([os.environ["SWANSONGCTL"], "plot", "--report", file.name], capture_output=True, check=False)
    return run.returncode, run.stdout.decode(), run.stderr.decode()


class Pictures(unittest.TestCase):
    def assert_drawn(self, report):
        status, picture, messages = draw(report)
        self.assertEqual((status, messages), (0, ""))
        self.assertEqual(xml.etree.ElementTree.fromstring(picture.encode()).tag, "{http://www.w3.org/2000/svg}svg")
        return picture

    def assert_has(self, report, *parts):
        picture = self.assert_drawn(report)
        for part in parts:
            self.assertIn(part, picture)

    def test_it_has_a_lane_for_each_node(self):
        self.assert_has(
            REPORT, '<?xml version="1.0" encoding="UTF-8"?>\n<svg ', ">Shutdown of h: 2.00s, forced</text>",
            "by SIGTERM: asked by &lt;me&gt; &amp; you</text>", "<title>web/nginx</title>nginx</text>",
            '<title>web/nginx: killing for 200ms, from 1.30s on</title><rect class="killing"',
            "<title>data/redis: waiting for 1.50s, from 0.0ms on; redis-server, pid 12",
            "<title>lease on data for 6.00s, revoked; dump, pid 77, &quot;&lt;b&gt;", 'class="lost"',
            "shutdown-timeout</text>", "</svg>\n")
        self.assertNotIn("<script", self.assert_drawn(REPORT))

    def test_bars_are_where_their_time_is(self):
        """Two seconds are 900 wide, from 150 on."""
        self.assert_has(
            REPORT, '<rect class="draining" x="150.00" y="210.00" width="135.00"',
            '<rect class="stopping" x="285.00" y="210.00" width="450.00"',
            '<rect class="killing" x="735.00" y="210.00" width="90.00"',
            # The budget, and a guard from before the stop on.
            '<line class="budget" x1="960.00"',
            '<line class="guard" x1="150.00" y1="155.00" x2="600.00" y2="155.00"',
            '<line class="axis" x1="150.00" y1="112.00" x2="1050.00" y2="112.00"')

    def test_the_legend_has_each_kind_of_bar(self):
        texts = ("drain-delay", "waits for others", "stopping", "killed", "post-stop", "guard, until dropped",
                 "guard, until killed or revoked")
        self.assert_has(REPORT, *(f'text-anchor="start">{text}</text>' for text in texts))

    def test_a_member_that_is_null_is_missing(self):
        report = {**REPORT, "signal": None, "budget_usec": None}
        report["nodes"] = [{**node, "late_usec": None} for node in report["nodes"]]
        picture = self.assert_drawn(report)
        self.assertIn("exit status 124: asked", picture)
        self.assertNotIn("shutdown-timeout", picture)

    def test_nodes_stand_below_their_parents(self):
        """Two generations of web, of which the second has b; and a node without a parent."""
        paths = ["", "web", "web/a", "web", "x/y", "web/b"]
        lanes = plot.make_lanes([node(path, 1) for path in paths], 1)
        self.assertEqual([(lane.path, lane.name, lane.indent) for lane in lanes], [
            ("root", "root", 0), ("web", "web", 12), ("web/a", "a", 24), ("web", "web", 12), ("web/b", "b", 24),
            ("x/y", "x/y", 0)])

    def test_a_report_without_nodes_or_time_is_drawn(self):
        self.assert_drawn({**HEAD, "total_usec": 0, "nodes": []})

    def test_times_without_bounds_are_drawn(self):
        most, least = (1 << 63) - 1, -(1 << 63)
        guard = {"id": 1, "kind": "x", "taken_usec": least, "gone_usec": most}
        far = node("a", most, ("waiting", least), ("stopping", most), ("waiting", least), guards=[guard], stop_usec=least)
        self.assert_drawn({**HEAD, "nodes": [far]})
        self.assert_drawn({**HEAD, "nodes": [far], "total_usec": most, "time_usec": most})

    def test_mutated_reports_are_drawn_or_refused(self):
        """Numbers that no daemon writes: no fault, no endless loop."""
        chance = random.Random(11)
        data = json.dumps(REPORT).encode()
        for _ in range(150):
            mutant = bytearray(data)
            for _ in range(chance.randrange(1, 5)):
                mutant[chance.randrange(len(mutant))] = chance.choice(b'{}[]",:\\0919999.e- \x80\xff\xc3\x01')
            status, picture, messages = draw(bytes(mutant))
            if status == 0:
                xml.etree.ElementTree.fromstring(picture.encode())
                self.assertEqual(messages, "")
            else:
                self.assertEqual((status, picture), (1, ""))
                self.assertRegex(messages, "not a report of a shutdown|in an unknown format")

    def test_a_picture_that_cannot_be_written_is_an_error(self):
        with tempfile.NamedTemporaryFile("w") as file, open("/dev/full", "wb") as full:
            json.dump(REPORT, file)
            file.flush()
            run = subprocess.run([os.environ["SWANSONGCTL"], "plot", "--report", file.name], stdout=full,
                                 stderr=subprocess.PIPE, check=False)
        self.assertEqual((run.returncode, run.stderr), (1, b"swansongctl: cannot write: No space left on device\n"))


class Texts(unittest.TestCase):
    def test_ticks_are_round_and_few(self):
        cases = [
            (1, 1, 1, "0.001ms"),
            (900, 100, 300, "0.3ms"),
            (1500, 200, 1400, "1.4ms"),
            (95000, 10000, 20000, "20ms"),
            (1900000, 200000, 1400000, "1.4s"),
            (4200000, 500000, 500000, "500ms"),
            (30000000, 5000000, 10000000, "10s"),
            (300000000, 30000000, 90000000, "1:30 min"),
            (36000000000, 3600000000, 7200000000, "2 h"),
        ]
        for usec, step, at, text in cases:
            self.assertEqual(plot.step_of(usec, 12), step)
            self.assertEqual(plot.tick(at, step), text)
        usec = 1
        while usec < 1 << 64:
            self.assertLessEqual(usec // plot.step_of(usec, 12), 12)
            usec = usec * 3 + 1

    def test_durations_are_those_of_other_commands(self):
        cases = [
            (0, "0.0ms"), (9949, "9.9ms"), (9950, "10ms"), (999499, "999ms"), (999500, "1.00s"),
            (59994999, "59.99s"), (59995000, "1min 0s"), (3599499999, "59min 59s"), (3599500000, "1h 0min"),
            (86369999999, "23h 59min"), (86370000000, "1d 0h"),
        ]
        for usec, text in cases:
            self.assertEqual(plot.duration(usec), text)

    def test_text_is_escaped_for_xml_and_for_the_eye(self):
        cases = [
            ("a<b>&\"'", 100, "a&lt;b&gt;&amp;&quot;&#39;"),
            ("\x01\udcff\x7f", 100, r"\x01\xff\x7f"),
            ("\uffff", 100, r"\xef\xbf\xbf"),
            ("\u202e", 100, r"\xe2\x80\xae"),
            ("\x85", 100, r"\xc2\x85"),
            ("ä日", 100, "ä日"),
            ("aaaaaaaaaa", 4, "aaaa\u2026"),
            ("aaaaaaaaaa", 0, "\u2026"),
            ("", 0, ""),
        ]
        for text, width, escaped in cases:
            self.assertEqual(plot.escape(text, width), escaped)


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    tests = [test for group in suite for test in group]
    print(f"1..{len(tests)}")
    for number, test in enumerate(tests, 1):
        result = unittest.TestResult()
        test.run(result)
        good = result.wasSuccessful()
        print(f"{'ok' if good else 'not ok'} {number} - {test._testMethodName[5:].replace('_', ' ')}")
        for _, text in result.errors + result.failures:
            print("".join(f"# {line}\n" for line in text.splitlines()), end="")
        sys.stdout.flush()


main()
