"""migration-page.py CONVERTER PAGE KEYS [rewrite]: compares swansong-migration(7) with the tables of the converter, and
these with the file KEYS, the names of swansong.ini(5): nothing that is there may be denied.

Between two comments the page has each key of systemd and of compose that has no counterpart, with the reason, as the
converter prints it; "rewrite" writes these lines anew.  Prints each difference.
"""
import re
import sys
import textwrap

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from swansong_convert import compose_keys, systemd_keys  # noqa: E402

BEGIN, END = '.\\" Keys of the converter of %s: tests/helpers/migration-page.py\n', '.\\" End of its keys\n'
OTHER = {("compose", "attach")}  # a key of the same name with another meaning
TABLES = (("systemd", "=", {**systemd_keys.SERVICE, **systemd_keys.UNIT}), ("compose", "", compose_keys.SERVICE))


def lines_of(sign, table):
    keys_of = {}
    for key, reason in table.items():
        keys_of.setdefault(reason, []).append(key)
    yield ".Bl -tag -width Ds"
    for reason, keys in keys_of.items():
        yield ".It Xo"
        lines = textwrap.wrap(" , ".join(key + sign for key in sorted(keys)), 90, break_long_words=False, break_on_hyphens=False)
        for line in lines:
            yield ".Li " + line.removeprefix(", ")
        yield ".Xc"
        text = (reason[0] if re.match(r"\S+\(\d\)", reason) else reason[0].upper()) + reason[1:] + "."
        for line in textwrap.wrap(text.replace("\\", "\\e"), 100, break_long_words=False, break_on_hyphens=False):
            yield line if line[0] not in ".'" else "\\&" + line
    yield ".El"


own = set(open(sys.argv[3]).read().split())
page = open(sys.argv[2], encoding="utf-8").read()
for name, sign, table in TABLES:
    wanted = "".join(line + "\n" for line in lines_of(sign, table))
    parts = re.split("(?<=%s)(.*?)(?=%s)" % (re.escape(BEGIN % name), re.escape(END)), page, maxsplit=1, flags=re.S)
    if len(parts) != 3:
        print("no keys of %s" % name)
    elif parts[1] != wanted:
        print("the keys of %s are not those of the converter: rewrite them" % name)
        page = parts[0] + wanted + parts[2]
    for key, reason in table.items():
        here = re.sub(r"(?<=[a-z])(?=[A-Z])|_", "-", key).lower()
        if {here, here.removesuffix("-sec")} & own and (name, key) not in OTHER:
            print("%s of %s has no counterpart, and swansong.ini(5) has %s" % (key, name, here))
        for word in re.findall(r"there (?:is|are) no ([a-z-]+)", reason):
            if word in own:
                print("%s of %s: %s: swansong.ini(5) has %s" % (key, name, reason, word))
if sys.argv[4:] == ["rewrite"]:
    open(sys.argv[2], "w", encoding="utf-8").write(page)
