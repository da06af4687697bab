"""units-run.py CONVERTER FOLDER-OF-PROGRAMS [UNIT...]: the services of this machine, under systemd and under swansongd.

In a machine that systemd has booted.  Each service is started by systemd alone, and stopped; if it came up, its unit is
converted as it is, and swansongd runs the result.  Prints a line for each, and the share that came up unchanged.
"""
import glob
import json
import os
import re
import subprocess
import sys
import time

PATIENCE = 30  # seconds for a start
STAY = 2  # seconds that a service has to stay up
converter, programs, *wanted = sys.argv[1:]
directory = "/run/units"


def run(*command, timeout=PATIENCE + 15):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=timeout,
                              env={**os.environ, "SWANSONG_SOCKET": directory + "/socket", "PATH": programs + ":" + os.environ["PATH"],
                                   "SWANSONG_LOGGER": programs + "/swansong-logger", "LC_ALL": "C"})
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as e:
        return 124, (e.stdout or b"").decode(errors="replace")


def properties(unit):
    text = run("systemctl", "show", unit, "-p", "ActiveState,SubState,Result,ConditionResult,Type,LoadState,UnitFileState,NRestarts")[1]
    return dict(line.split("=", 1) for line in text.split("\n") if "=" in line)


def is_up_in_systemd(unit):
    """Returns "up", "done" for a oneshot that has worked, or why it is neither."""
    status, _ = run("systemctl", "start", unit)
    time.sleep(STAY)
    now = properties(unit)
    if now["ConditionResult"] == "no":
        result = "its condition is not met"
    elif now["ActiveState"] == "active" and now["SubState"] == "running":
        result = "up" if now["NRestarts"] == "0" else "restarts"
    elif status == 0 and now["Result"] == "success":
        result = "done"
    else:
        result = now["Result"]
    run("systemctl", "stop", unit, unit.replace(".service", ".socket"))
    return result


def is_up_here(unit):
    ini = directory + "/swansong.ini"
    status, notes = run(converter, "systemd", "-o", ini, unit_file(unit), *sockets_of(unit))
    if not os.path.exists(ini):
        return "not converted: " + notes.strip().split("\n")[-1], 0
    lost = len(re.findall("not carried over", notes))
    status, text = run("swansongctl", "check", ini)
    if status != 0:
        return "not valid: " + text.strip().split("\n")[0], lost
    with open(directory + "/log", "w+") as log:
        # As swansongd.service gives it control groups.
        daemon = subprocess.Popen(["systemd-run", "--scope", "--quiet", "-p", "Delegate=yes", programs + "/swansongd", "-c", ini,
                                   "-s", directory + "/socket"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                  env={**os.environ, "SWANSONG_LOGGER": programs + "/swansong-logger",
                                       "SWANSONG_SANDBOX": programs + "/swansong-sandbox"})
        run("swansongctl", "wait", "--for", "ready", "--timeout", "%ds" % PATIENCE)
        # A unit that nothing wants is not started by itself.
        run("swansongctl", "--timeout", "%ds" % PATIENCE, "start", "*" + unit.removesuffix(".service"))
        time.sleep(STAY)
        status, text = run("swansongctl", "--json", "status")
        # Beside it there may be a oneshot that makes its directories.
        nodes = [node for node in json.loads(text)["nodes"] if "service" in node] if status == 0 else []
        own = [node for node in nodes if node["path"].split("/")[-1] == unit.removesuffix(".service")]
        services = [node["service"] for node in own or nodes]
        daemon.terminate()
        try:
            daemon.wait(120)
        except subprocess.TimeoutExpired:
            daemon.kill()
        log.seek(0)
        last = [line for line in log.read().split("\n") if "swansongd:" in line or " | " in line][-3:]
    states = {"restarts" if service.get("restarts") else service["state"] for service in services}
    result = " ".join(sorted(states)) or "no service: " + text.strip()[:100]
    return result if result in ("up", "done") else "%s; %s" % (result, " / ".join(last)), lost


def sockets_of(unit):
    """The files of the sockets of the service that it names: systemd starts them with it."""
    with open(unit_file(unit)) as file:
        lines = re.findall(r"^(?:Requires|Wants|BindsTo|Sockets)=(.*)", file.read(), re.MULTILINE)
    return [unit_file(name) for name in " ".join(lines).split()
            if name.endswith(".socket") and name.startswith(unit.removesuffix(".service"))]


def unit_file(unit):
    return next(path for folder in ("/etc", "/lib", "/usr/lib") for path in [folder + "/systemd/system/" + unit] if os.path.exists(path))


os.makedirs(directory, exist_ok=True)
units = wanted or sorted({os.path.basename(path) for path in glob.glob("/lib/systemd/system/*.service")
                          if not os.path.islink(path) and "@" not in path and not os.path.basename(path).startswith(
                              ("systemd-", "initrd-", "rescue", "emergency", "debug-shell", "console-getty", "container-getty", "halt", "quotaon",
                               "modprobe", "dbus", "user", "getty", "rc-local", "system-update"))})
run("systemctl", "stop", *units, timeout=300)
counts = {"tried": 0, "systemd": 0, "here": 0, "whole": 0}
for unit in units:
    counts["tried"] += 1
    there = is_up_in_systemd(unit)
    if there not in ("up", "done"):
        print("-    %s: systemd: %s" % (unit, there), flush=True)
        continue
    counts["systemd"] += 1
    for path in glob.glob(directory + "/*"):
        os.unlink(path)
    here, lost = is_up_here(unit)
    # A oneshot with commands for its stop stays up here.
    same = here == there or (there, here) == ("done", "up")
    counts["here"] += same
    counts["whole"] += same and not lost
    print("%s %s: systemd: %s, here: %s, %d keys not carried over" % ("ok  " if same else "NOT ", unit, there, here, lost), flush=True)
print("%(tried)d services, %(systemd)d come up under systemd, of these %(here)d here with the unit as it is, %(whole)d with each key" % counts)
