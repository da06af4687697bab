"""tutorial.py FILE: does what contrib/site/tutorial.html has a reader do, in one shell, and compares the output.

For each step there is a line, "ok" or "not ok" and its heading, and the reason.  An expected line may have other numbers,
times and blanks; a line of three dots stands for any lines.  The home of the page is $HOME.
"""
import html
import os
import pathlib
import re
import selectors
import subprocess
import sys
import time

PATIENCE = 60  # seconds a command
# A reader types slowly: an answer that changes by itself is asked for again.
QUESTIONS = ("grep ", "swansongctl guards", "swansongctl logs")
MARK = "the command has ended: "

shell = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0)
selector = selectors.DefaultSelector()
selector.register(shell.stdout, selectors.EVENT_READ)


def output_of(command):
    shell.stdin.write((command + "\nstatus=$?; echo; echo '%s'$status\n" % MARK).encode())
    output, end = b"", time.monotonic() + PATIENCE
    while not re.search(rb"\n%s\d+\n$" % MARK.encode(), output):
        if not selector.select(end - time.monotonic()):
            raise TimeoutError("%s: no end; output: %s" % (command, output))
        part = os.read(shell.stdout.fileno(), 65536)
        if not part:
            raise EOFError("%s: the shell has ended: %s" % (command, output))
        output += part
    return output[:output.rindex(b"\n" + MARK.encode())].decode().rstrip("\n")


def pattern_of(line):
    line = re.sub(r" +", " ", line.rstrip())
    parts = re.split(r"(?:\d+min )?\d+(?:\.\d+)?(?:ms|s|min)?", line)
    return r"(?:\d+min )?[0-9.]+(?:ms|s|min)?".join(map(re.escape, parts)).replace(r",\ root", r",\ \w+")


def differs(output, expected):
    """Returns the first expected line that is missing, or None."""
    lines = [re.sub(r" +", " ", line.rstrip()) for line in output.split("\n") if line]
    skips = False
    for line in expected:
        if line == "…":
            skips = True
            continue
        while lines and skips and not re.fullmatch(pattern_of(line), lines[0]):
            lines.pop(0)
        if not lines or not re.fullmatch(pattern_of(line), lines.pop(0)):
            return line
        skips = False
    return None if skips or not lines else "nothing more than %d lines" % len(expected)


def do_block(kind, name, text):
    if kind:
        with open(pathlib.Path.home() / "shop" / name, "a" if kind == "append" else "w") as file:
            file.write(text.replace("/home/you", os.environ["HOME"]) + "\n")
        return
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, *expected = part.rstrip("\n").split("\n")
        end = time.monotonic() + PATIENCE
        while (missing := differs(output := output_of(command), expected)) and command.startswith(QUESTIONS) and time.monotonic() < end:
            time.sleep(0.1)
        if missing:
            raise ValueError("%s: expected %s; output:\n%s" % (command, missing, output))


for step in pathlib.Path(sys.argv[1]).read_text().split("<h2>")[1:]:
    title = step[:step.index("</h2>")]
    try:
        for kind, name, text in re.findall(r'<pre (?:data-(file|append)="(.*?)"|class="run")>(.*?)</pre>', step, re.S):
            do_block(kind, name, html.unescape(text))
        print("ok", title, flush=True)
    except (ValueError, TimeoutError, EOFError) as e:
        print("not ok", title, flush=True)
        print("\n".join("# " + line for line in str(e).split("\n")), flush=True)
shell.stdin.close()
