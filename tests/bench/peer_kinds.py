"""The supervisors that tests/bench/peers runs: for each, what it is given and how it is asked.

All are set up alike: every service is the same program, is started again for ever, without a delay
where that can be said, and nobody captures its output.
"""

import os
import shutil
import signal


class Kind:
    """One supervisor, its services in a folder of its own; in each there is a way to "births"."""

    name = ""
    programs = ()           # what has to be installed
    most = 5000             # more services than this are not tried
    note = ""
    stop_signal = signal.SIGTERM

    def __init__(self, tools):
        self.tools = tools  # name -> path of what the bench and the project have built

    def missing(self):
        return [p for p in self.programs if not shutil.which(p)]

    def write(self, folder, child, n):
        """Writes the configuration of n services that run child."""

    def argv(self, folder, child, n):
        """The command that runs them; its working directory is folder."""
        raise NotImplementedError

    def status(self, folder, n):
        """The command that tells of all services, or None."""


class Floor(Kind):
    name = "floor"
    note = "bare loop of vfork, exec and waitpid"

    def argv(self, folder, child, n):
        return [self.tools["floor"], str(n), child]


class Swansong(Kind):
    name = "swansongd"

    def write(self, folder, child, n):
        with open(f"{folder}/swansong.ini", "w") as f:
            for i in range(n):
                f.write(f"[s{i}]\ncommand = {child}\ndirectory = {folder}\nrestart = always\n"
                        "restart-delay = 0\nrestart-limit = none\n")

    def argv(self, folder, child, n):
        return [self.tools["swansongd"], "-c", f"{folder}/swansong.ini", "-s", f"{folder}/socket"]

    def status(self, folder, n):
        return [self.tools["swansongctl"], "--socket", f"{folder}/socket", "status"]


class Directories(Kind):
    """A directory for each service, in which "run" is the program itself: no shell is in between."""

    def write(self, folder, child, n):
        os.mkdir(f"{folder}/services")
        for i in range(n):
            service = f"{folder}/services/s{i}"
            os.mkdir(service)
            os.symlink(child, f"{service}/run")
            os.symlink(f"{folder}/births", f"{service}/births")


class S6(Directories):
    name = "s6"
    programs = ("s6-svscan", "s6-supervise", "s6-svstat")
    note = "restarts after 1 s, which cannot be set"

    def argv(self, folder, child, n):
        return ["s6-svscan", "-c", str(n + 10), f"{folder}/services"]

    def status(self, folder, n):
        return ["sh", "-c", 'for s in "$1"/*; do s6-svstat "$s"; done', "sh", f"{folder}/services"]


class Runit(Directories):
    name = "runit"
    programs = ("runsvdir", "runsv", "sv")
    most = 1000
    note = "1,000 services at most; restarts after 1 s whoever has not lived as long"
    stop_signal = signal.SIGHUP  # on SIGTERM it leaves all services running

    def argv(self, folder, child, n):
        return ["runsvdir", "-P", f"{folder}/services"]

    def status(self, folder, n):
        return ["sh", "-c", 'exec sv status "$1"/*', "sh", f"{folder}/services"]


class Supervisor(Kind):
    name = "supervisord"
    programs = ("supervisord", "supervisorctl")
    most = 1000
    note = "starts a program again at most once a second"

    def write(self, folder, child, n):
        with open(f"{folder}/supervisord.conf", "w") as f:
            f.write(f"[supervisord]\nnodaemon=true\nlogfile=/dev/null\nlogfile_maxbytes=0\n"
                    f"pidfile={folder}/pid\nminfds={2 * n + 1024}\nloglevel=critical\n"
                    f"[unix_http_server]\nfile={folder}/socket\n"
                    "[rpcinterface:supervisor]\nsupervisor.rpcinterface_factory = "
                    "supervisor.rpcinterface:make_main_rpcinterface\n"
                    f"[supervisorctl]\nserverurl=unix://{folder}/socket\n")
            for i in range(n):
                f.write(f"[program:s{i}]\ncommand={child}\ndirectory={folder}\nautorestart=true\n"
                        "startsecs=0\nstdout_logfile=NONE\nstderr_logfile=NONE\n")

    def argv(self, folder, child, n):
        return ["supervisord", "-c", f"{folder}/supervisord.conf"]

    def status(self, folder, n):
        return ["supervisorctl", "-c", f"{folder}/supervisord.conf", "status"]


class Dinit(Kind):
    name = "dinit"
    programs = ("dinit", "dinitctl")

    def write(self, folder, child, n):
        os.mkdir(f"{folder}/services")
        for i in range(n):
            with open(f"{folder}/services/s{i}", "w") as f:
                f.write(f"type = process\ncommand = {child}\nworking-dir = {folder}\nrestart = true\n"
                        "smooth-recovery = true\nrestart-delay = 0\nrestart-limit-count = 0\n")
        with open(f"{folder}/services/boot", "w") as f:
            f.write("type = internal\n" + "".join(f"waits-for = s{i}\n" for i in range(n)))

    def argv(self, folder, child, n):
        return ["dinit", "-q", "-d", f"{folder}/services", "-p", f"{folder}/socket"]

    def status(self, folder, n):
        return ["dinitctl", "-p", f"{folder}/socket", "list"]


KINDS = (Floor, Swansong, S6, Runit, Supervisor, Dinit)
