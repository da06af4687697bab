#!/bin/bash
# A fault ends the processes that were being started, and no others: a program that has written a title over its
# environment, as many daemons do, belongs to its service by its control group or its session alone.
. "${0%/*}/lib.sh"
requires_package /usr/bin/python3 python3

# As nginx: it leads a session, is a child of swansongd, and executes nothing after its fork.
cat >"$dir/titled" <<'END_OF_PROGRAM'
import ctypes, os, signal, sys
if os.fork():
    os._exit(0)
os.setsid()
variables = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
i = 0
while variables[i]:
    ctypes.memset(variables[i], ord("t"), len(ctypes.string_at(variables[i])))
    i += 1
with open(sys.argv[1], "w") as file:
    print(os.getpid(), file=file)
signal.pause()
END_OF_PROGRAM
config <<END
[web]
command = sh -c '/usr/bin/python3 $dir/titled $dir/pid; exec $helpers/idle'
END
start_daemon
wait_for 10 test -s "$dir/pid" || die "the titled process has begun"
titled=$(cat "$dir/pid")
is_adopted() { [ "$(ps -o ppid= -p "$titled" | xargs)" = "$daemon" ]; }
wait_for 5 is_adopted || die "it is a child of swansongd"
not grep -q SWANSONG "/proc/$titled/environ" || die "it has no environment"
kill -SEGV "$daemon"
wait_for 10 has_faults 1 || die "the fault is reported"
wait_for 10 ctl_answers || die "it goes on"
ok "a process with a title lives after a fault" kill -0 "$titled"
stop_daemon
ok "it has ended with the service" gone "$titled"

# --- A process that was being started ---

# Below another swansongd the daemon has a node of its own in its environment, and so has a process before its program
# runs.
hide_cgroups
printf '#!/bin/sh\necho run >>%s/runs\nexec %s/idle\n' "$dir" "$helpers" >"$dir/program"
chmod 755 "$dir/program"
config <<END
[slow]
command = $dir/program
END
begins() { # NAME [VARIABLE]
	rm -f "$dir/runs"
	lease_file "$dir/program"
	: >"$log"
	launch env ${2:+"$2"} "$swansongd" -v -c "$ini" --socket "$socket"
	wait_for 10 says "$dir/leased" waits || die "$1: a start waits"
	kill -SEGV "$daemon"
	wait_for 10 has_faults 1 || die "$1: the fault is reported"
	wait_for 10 ctl_answers || die "$1: it goes on"
	end_process "$leasing"
	ok "$1: the service starts" ctl wait --for ready --timeout 60s
	ok "$1: its program runs" wait_for 10 test -s "$dir/runs"
	stop_daemon
	is "$1: it ran once" "$(cat "$dir/runs")" run
}
begins "a start"
begins "a start below another swansongd" SWANSONG_NODE=outer
finish
