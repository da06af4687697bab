"""Large inputs of the converter: large-inputs.py CONVERTER FOLDER SECONDS

Each is made in FOLDER and converted, alone, within SECONDS of a processor; the result may be a refusal, and is no traceback.  The
inputs are those for which a careless reader needs the square of their size, a deep stack, or too much memory.
"""
import os
import resource
import subprocess
import sys
import time

MIB = 1 << 20


def inputs():
    """(reader, name, {path: text})"""
    yield "compose", "brackets", {"": "services: " + "[" * (MIB - 20)}
    yield "compose", "blanks", {"": "a" + " " * (MIB - 20) + "b"}
    yield "compose", "list", {"": "services: [" + "a," * (MIB // 4) + "]"}
    yield "compose", "quotation", {"": 'services: "' + "\\\n" * 400000}
    yield "compose", "anchors", {"": "a: " + "&a " * 300000}
    yield "compose", "repeated", {"": 'x: &a "' + "b" * 500000 + '"\nservices:\n  a:\n    command: x\n    environment:\n' +
                                  "".join("      A%d: *a\n" % i for i in range(20000))}
    yield "compose", "merged", {"": "x: &x0 {a: 1}\n" + "".join(
        "y%d: &x%d {<<: [%s], k%d: 1}\n" % (i, i, ",".join("*x%d" % j for j in range(max(0, i - 5), i)), i)
        for i in range(1, 8000))}
    yield "compose", "variables", {"": 'services:\n  a:\n    command: "' + "${A:-" * 100000 + '"\n'}
    yield "compose", "dependencies", {"": "services:\n" + "".join(
        "  s%d: {command: x, depends_on: [%s]}\n" % (i, ",".join("s%d" % j for j in range(max(0, i - 4), i)))
        for i in range(1900))}
    yield "systemd", "continued", {"a.service": "[Service]\nExecStart=/bin/true " + "\\\n" * 120000}
    yield "systemd", "specifiers", {"a@.service": "[Service]\nExecStart=/bin/true " + "%i" * 60000,
                                    "b.target": "[Unit]\nWants=" + " ".join("a@%d.service" % i for i in range(3000))}
    yield "systemd", "targets", {"a.service": "[Unit]\nAfter=t0.target\n[Service]\nExecStart=/bin/true\n", **{
        "t%d.target" % i: "[Unit]\nWants=t%d.target t%d.target a.service\n" % (i + 1, i + 2) for i in range(1900)}}
    yield "systemd", "order", {"s%d.service" % i: "[Unit]\nAfter=%s\n[Service]\nExecStart=/bin/true\n" % " ".join(
        "s%d.service" % j for j in range(max(0, i - 6), i)) for i in range(1500)}
    yield "s6-rc", "bundles", {"b60/type": "longrun\n", "b60/run": "", "default/type": "bundle\n",
                               "default/contents": "b0\n", **{"b%d/type" % i: "bundle\n" for i in range(60)},
                               **{"b%d/contents" % i: "b%d\nb%d\n" % (i + 1, i + 2) for i in range(60)}}
    yield "procfile", "long", {"": "a: " + '"' * MIB}
    yield "supervisord", "long", {"": "[program:a]\ncommand=" + "%(program_name)s " * 60000}


def convert(command, seconds):
    """The exit status, or a sentence about what is wrong."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))  # of the processor: a busy machine takes longer

    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=10 * seconds,
                             preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return "took more than %d s" % (10 * seconds)
    return run.stderr if run.returncode not in (0, 1, 2) or "Traceback" in run.stderr else run.returncode


def main():
    converter, folder, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    wrong = 0
    for reader, name, files in inputs():
        top = os.path.join(folder, reader + "-" + name)
        for file, text in files.items():
            path = os.path.join(top, file) if file else top
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as output:
                output.write(text)
        began = time.monotonic()
        result = convert([sys.executable, converter, reader, "-o", os.path.join(folder, "result"), top], seconds)
        print("%s %s: %s, %.1f s" % (reader, name, result, time.monotonic() - began))
        wrong += not isinstance(result, int)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
