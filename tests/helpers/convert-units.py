"""Converts the units of packages: convert-units.py CONVERTER SWANSONGCTL FOLDER [NAME...]

FOLDER has a folder for each package, as "dpkg-deb -x" makes it.  Each unit is converted alone, and the units of
each package together; each result is checked by "swansongctl check".  Prints a line for each package, the keys
without a counterpart, and the shares of all.  With "--names" it prints the users and groups that units name.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

FOLDERS = ("usr/lib/systemd/system", "lib/systemd/system", "etc/systemd/system")
KINDS = ("service", "socket", "timer", "target", "path", "mount", "automount", "swap", "slice")
# Restrictions of what a process may do and see.
WALLS = re.compile("Protect|Private|Restrict|SystemCall|Read(Write|Only)|Inaccessible|Memory(Deny|KSM)|LockPers|Device|"
                   "(No)?Exec(Paths)$|IPAddress|ProcSubset|Keyring|CapabilityBounding|RemoveIPC|SecureBits|Bind(Read|Paths)")
LEFT_OUT = re.compile(r"(/.*?):(\d+): \[[^]]*\] not carried over: (\S+)")


def units_of(package):
    for folder in FOLDERS:
        path = os.path.join(package, folder)
        for name in sorted(os.listdir(path)) if os.path.isdir(path) else ():
            file = os.path.join(path, name)
            if name.rsplit(".", 1)[-1] in KINDS and os.path.isfile(file) and not os.path.islink(file):
                yield file


def assignments(file):
    """The number of assignments of a unit, continued lines once; comments and [Install] are no settings."""
    text = re.sub(r"\\\n(?:[ \t]*[#;].*\n)*", " ", open(file, encoding="utf-8", errors="replace").read())
    section, n = "", 0
    for line in text.split("\n"):
        line = line.strip()
        if line.startswith("["):
            section = line
        elif "=" in line and not line.startswith(("#", ";")) and section != "[Install]":
            n += bool(line.partition("=")[2].strip())
    return n


def print_names(packages):
    names = set()
    for package in packages:
        for file in units_of(package):
            for match in re.finditer(r"^(?:User|Group|SupplementaryGroups|SocketUser|SocketGroup)=(.*)$",
                                     open(file, encoding="utf-8", errors="replace").read(), re.MULTILINE):
                names.update(name for name in match.group(1).split() if re.fullmatch("[a-z_][a-z0-9_-]*", name))
    print("\n".join(sorted(names)))


class Conversions:
    def __init__(self, converter, ctl, folder):
        self.converter, self.ctl = converter, ctl
        self.result = os.path.join(folder, "result.ini")
        self.units = self.valid = self.keys = self.lost = self.services = self.nodes = 0
        self.packages = self.whole = self.walls = 0
        self.why, self.problems = collections.Counter(), []

    def convert(self, files):
        """(whether it is a configuration, the places that are not carried over)"""
        if os.path.exists(self.result):
            os.unlink(self.result)
        run = subprocess.run([self.converter, "systemd", "-o", self.result, *files], capture_output=True, text=True,
                             errors="replace")
        if run.returncode not in (0, 1) or "Traceback" in run.stderr:
            self.problems.append("%s: %s" % (files[0], run.stderr.strip().split("\n")[-1]))
            return False, []
        check = subprocess.run([self.ctl, "check", self.result], capture_output=True, text=True, errors="replace")
        if check.returncode != 0:
            self.problems.append("%s: %s" % (files[0], (check.stderr or check.stdout).strip().split("\n")[0]))
        return check.returncode == 0, [match.groups() for match in map(LEFT_OUT.match, run.stderr.split("\n"))
                                       if match]

    def add_unit(self, file):
        valid, lost = self.convert([file])
        self.units += 1
        self.valid += valid
        keys = assignments(file)
        lines = {line for path, line, _ in lost if path == file}
        lost_keys = min(len(lines), keys)
        self.walls += len({line for path, line, key in lost if path == file and WALLS.match(key)})
        self.keys += keys
        self.lost += lost_keys
        self.why.update({key for path, _, key in lost if path == file})
        if file.endswith(".service"):
            self.services += 1
            self.nodes += bool(valid and re.search(r"^command =", open(self.result, encoding="utf-8").read(), re.M))

    def add_package(self, package):
        files = list(units_of(package))
        if not files:
            return
        before = self.units, self.valid, self.keys, self.lost
        for file in files:
            self.add_unit(file)
        whole, _ = self.convert(files)
        self.packages += 1
        self.whole += whole
        units, valid, keys, lost = (now - then for now, then in zip(
            (self.units, self.valid, self.keys, self.lost), before))
        print("%-26s %3d units, %3d valid; %4d keys, %3d %% carried over; together %s" % (
            os.path.basename(package), units, valid, keys, 100 * (keys - lost) // max(keys, 1),
            "valid" if whole else "not valid"))


def main():
    if sys.argv[1] == "--names":
        packages = [os.path.join(sys.argv[2], name) for name in os.listdir(sys.argv[2])]
        return print_names(packages) or 0
    converter, ctl, folder = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as temporary:
        all_of = Conversions(converter, ctl, temporary)
        packages = [os.path.join(folder, name) for name in sys.argv[4:] or sorted(os.listdir(folder))]
        for package in packages:
            all_of.add_package(package)
        one_tree, _ = all_of.convert([file for package in packages for file in units_of(package)])
    for key, n in all_of.why.most_common(40):
        print("%4d units: %s" % (n, key))
    for problem in all_of.problems:
        print("problem:", problem)
    print("packages %d, of which %d are valid as a whole; all of them as one tree are %s" % (
        all_of.packages, all_of.whole, "valid" if one_tree else "not valid"))
    print("units %d, of which %d (%.1f %%) have a valid result" % (
        all_of.units, all_of.valid, 100 * all_of.valid / max(all_of.units, 1)))
    print("services %d, of which %d (%.1f %%) are nodes" % (
        all_of.services, all_of.nodes, 100 * all_of.nodes / max(all_of.services, 1)))
    print("keys %d, of which %d (%.1f %%) are carried over" % (
        all_of.keys, all_of.keys - all_of.lost, 100 * (all_of.keys - all_of.lost) / max(all_of.keys, 1)))
    print("of the others %d are restrictions of namespaces, system calls and the like; without these %.1f %% of the "
          "keys are carried over" % (all_of.walls, 100 * (all_of.keys - all_of.lost) / max(all_of.keys - all_of.walls, 1)))
    return 1 if all_of.problems or not all_of.units else 0


if __name__ == "__main__":
    sys.exit(main())
