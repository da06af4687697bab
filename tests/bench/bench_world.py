"""Where the programs in Python measure: namespaces of their own, with what was built."""

import os
import subprocess
import sys
import tempfile


def built(builddir, names):
    """The programs; of those that libtool wraps, the real ones."""
    tools = {}
    for name in names:
        folder, base = os.path.split(name)
        real = os.path.join(builddir, folder, ".libs", base)
        path = real if os.access(real, os.X_OK) else os.path.join(builddir, name)
        if not os.access(path, os.X_OK):
            sys.exit(f"{os.path.basename(sys.argv[0])}: {path} is not built: make bench")
        tools[base] = os.path.abspath(path)
    return tools


def enter():
    """Goes on in namespaces of its own, once."""
    if os.environ.pop("BENCH_INSIDE", None):
        # Seen by nobody else: for the configurations, which cost no time of a disk there.
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/mnt"], check=True)
        tempfile.tempdir = "/mnt"
        return
    if os.geteuid() != 0:
        print("# SKIP machine: namespaces of our own need root")
        sys.exit(77)
    os.environ["BENCH_INSIDE"] = "1"
    os.execvp("unshare", ["unshare", "--pid", "--mount", "--net", "--fork", "--kill-child",
                          "--mount-proc", sys.executable, *sys.argv])
