"""Converts mutated configurations of another supervisor: fuzz-convert.py FOLDER READER SECONDS SEED FILE...

FOLDER has the package of the converter, READER is one of its readers.

Each ends with a result, or with a message for each mistake that begins with the file and the line.  Prints
one line: the number of conversions; or the traceback and the input of the first that ended otherwise.
"""
import contextlib
import importlib
import io
import os
import random
import re
import sys
import tempfile
import time
import traceback

WORDS = (
    "%(process_num)s %(process_num)02d %(process_num)%%02d %(numprocs)d %(ENV_HOME)s %(here)s %(nothing)s "
    "%% % %( %(process_num) %(program_name)9999999999s %(process_num)*d %s %c \" ' \\ [ ] : , ; # = \0 \x85 "
    "é 0 -1 1 2 3 99999999999999999999 1e9 ² 0x10 077 10MB 5KB yes false unexpected syslog AUTO none "
    "/dev/stdout unix:///run/a.sock tcp://localhost:80%(process_num)02d TERM 9 SIGRTMIN+1 a,b A=1,B=2"
).split(" ")
WORDS += (
    "%i %I %n %p %t %Z ${A} $A $$ ${A:-b} ${A:-${B}} ${ \\x01 \\x41 \\; ; -/x +x !x @x ~x ~ &a *a <<: |- > [a] {a: b} - ? "
    "!x infinity 1h 5% 1.5 /a/../b a@b.service x.target -x \\ --- #"
).split(" ")
SUPERVISORD = (
    "command process_name numprocs numprocs_start priority autostart startsecs startretries autorestart "
    "exitcodes stopsignal stopwaitsecs stopasgroup killasgroup user umask directory environment "
    "redirect_stderr stdout_logfile stdout_logfile_maxbytes stdout_logfile_backups stdout_syslog "
    "stderr_logfile stderr_logfile_maxbytes stderr_syslog stdout_events_enabled socket socket_owner "
    "socket_mode programs files minfds chmod chown"
).split()


# What is before a value: "key =", "  key: ", "  - ".
KEY = re.compile(r"\s*(?:[\w.-]+\s*[=:]\s?|- )")


def mutate_line(line, r):
    kind = r.randrange(5)
    at = r.randrange(len(line) + 1)
    if kind == 0:
        return line[:at] + r.choice(WORDS) + line[at:]
    if kind == 1:
        return line[:at] + line[at + r.randrange(1, 4):]
    if kind == 2 and line:
        return line[:at] + chr(r.choice((r.randrange(128), r.randrange(0x110000)))) + line[at + 1:]
    if kind == 3:
        return re.sub(r"\d+", lambda _: r.choice(("0", "2", "-3", "1000000000")), line, count=1)
    key = KEY.match(line)
    return (key.group() if key else line) + " ".join(r.choice(WORDS) for _ in range(r.randrange(4)))


def mutate(lines, keys, r):
    lines = list(lines)
    for _ in range(r.randrange(1, 6)):
        at = r.randrange(len(lines))
        kind = r.randrange(4)
        if kind == 0:
            lines[at] = mutate_line(lines[at], r)
        elif kind == 1:
            lines.insert(at, r.choice(keys) + r.choice(WORDS))
        elif kind == 2:
            lines.insert(at, r.choice(lines))
        elif len(lines) > 1:
            del lines[at]
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    if r.randrange(20) == 0:
        at = r.randrange(len(data) + 1)
        data = data[:at] + bytes([r.randrange(256)]) + data[at + 1:]
    return data


def check(reader, path):
    """Raises what no user should see."""
    notes = sys.modules["swansong_convert.notes"]
    with contextlib.redirect_stderr(io.StringIO()) as messages:
        try:
            if re.search(r"[\0\1]", reader.convert([path], notes.Report()).encode().decode()):
                raise ValueError("a control character in the result")
        except notes.BadInput as error:
            messages.write(str(error) + "\n")
    for line in messages.getvalue().split("\n")[:-1]:
        if not re.match(r"/[^:]*:\d+: .", line):
            raise ValueError("no file and line: " + repr(line))


def main():
    folder, name, seconds, seed = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
    sys.dont_write_bytecode = True
    sys.path.insert(0, folder)
    module = importlib.import_module("swansong_convert.main").READERS[name][0]
    reader = importlib.import_module("swansong_convert." + module)
    files = sys.argv[5:]
    seeds = [open(file, encoding="utf-8").read().split("\n") for file in files]
    keys = [key + "=" for key in SUPERVISORD] if name == "supervisord" else \
        [match.group() for lines in seeds for match in map(KEY.match, lines) if match]
    end, n = time.monotonic() + seconds, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            path = os.path.join(folder, os.path.basename(files[n % len(files)]))
            data = mutate(seeds[n % len(seeds)], keys, random.Random(f"{seed} {n}"))
            with open(path, "wb") as file:
                file.write(data)
            try:
                check(reader, path)
            except Exception:
                traceback.print_exc(file=sys.stdout)
                print("input", n, "of seed", seed, "is:")
                print(data.decode("utf-8", "backslashreplace"))
                return 1
            n += 1
    print(n, "conversions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
