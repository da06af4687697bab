"""Compares the converter's reader of YAML with PyYAML: compare-yaml.py FOLDER SECONDS SEED FILE...

FOLDER has the package of the converter.  The files are the same for both, and so is each mutation that both read.
A file that only the converter refuses is fine, as it reads a part of YAML.
"""
import os
import random
import sys
import tempfile
import time

import yaml

WORDS = ('"', "'", "\n", "\n  ", "\n    ", "- ", ": ", "# ", " #", "[", "]", "{", "}", ",", "&a ", "*a", "|\n", ">\n",
         "|-\n  ", "\\", "<<: *common", "key: v", "? ", "!!str ", "---\n", "...", "%", " ", "  ", "@")


class Loader(yaml.SafeLoader):
    """All scalars are text, and merge keys are keys."""

    yaml_implicit_resolvers = {"<": yaml.SafeLoader.yaml_implicit_resolvers["<"]}


def plain(node):
    items = getattr(node, "items", None)
    if isinstance(items, list):
        return [plain(item) for item in items]
    return {key: plain(value) for key, value in items.items()} if isinstance(items, dict) else node.value


def mutate(text, r):
    lines = text.split("\n")
    at = r.randrange(len(lines))
    if r.random() < 0.6:
        lines = lines[at:at + r.randrange(1, 14)]
    if r.random() < 0.6:
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        lines = [line[indent:] for line in lines]
    text = "\n".join(lines)
    for _ in range(r.randrange(3)):
        at = r.randrange(len(text) + 1)
        text = text[:at] + r.choice(WORDS) + text[at:] if r.random() < 0.6 else text[:at] + text[at + r.randrange(1, 3):]
    return text


def main():
    sys.dont_write_bytecode = True
    sys.path.insert(0, sys.argv[1])
    from swansong_convert.notes import BadInput
    from swansong_convert.yaml_subset import Document

    def read(text, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return plain(Document(path).read())

    texts = [open(file, encoding="utf-8").read() for file in sys.argv[4:]]
    end, n, same = time.monotonic() + float(sys.argv[2]), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            r = random.Random("%s %d" % (sys.argv[3], n))
            text = texts[n] if n < len(texts) else mutate(r.choice(texts), r)
            n += 1
            try:
                ours = read(text, os.path.join(folder, "yaml"))
                theirs = yaml.load(text, Loader)
            except (BadInput, yaml.YAMLError) as error:
                if n <= len(texts):
                    print("file %d: %s" % (n, error))
                    return 1
                continue
            same += 1
            if ours != theirs:
                print("input %d differs:\n%s\nours:   %r\ntheirs: %r" % (n, text, ours, theirs))
                return 1
    print(n, "files, of which", same, "were read by both")
    return 0


if __name__ == "__main__":
    sys.exit(main())
