#!/bin/bash
# The daemon ends in the middle of a hand-over, by a fault or by SIGKILL: the runs go on, each under its name.  Without
# control groups, then with them.
. "${0%/*}/lib.sh"
. "${0%/*}/handover-lib.sh"

config <<END
[db]
command = $helpers/idle
[web]
command = $helpers/slow-server serve $dir/word
listen = tcp:127.0.0.1:8080
ready = notify
handover = yes
requires = db
drain-timeout = 1min
[front]
command = $helpers/idle
requires = web
END
own_program
paths() { ctl status --json | jq -r '.nodes[].path' | xargs; }
has_paths() { [ "$(paths)" = "$1" ]; } # PATHS
has_processes() { [ "$(pgrep -cx "$1")" = "$2" ]; } # NAME NUMBER
is_another() { [ "$(worker)" != "$1" ] && ctl_answers; } # PID
fault() { # NAME
	local before
	if [ "$kind" = ABRT ]; then
		: >"$log"
		kill -ABRT "$(worker)"
		ok "$1: a fault" wait_for 10 has_faults 1
		ok "$1: and it answers again" wait_for 10 ctl_answers
	else
		before=$(worker)
		kill -KILL "$before"
		ok "$1: SIGKILL, and another daemon answers" wait_for 10 is_another "$before"
	fi
}

# Its roster is as in the middle of the hand-over of web, from its first run to the second one.
exchange_back() { # PID
	local fd
	for fd in "/proc/$1/fd"/*; do
		[[ $(readlink "$fd") != */memfd:*crashes* ]] || /usr/bin/python3 - "$fd" <<-'END'
			import struct
			import sys

			FIRST, SIZE, PATH, NAME = 4096, 664, 200, 401
			PROCESS, GOAL, LEASE, LEASE_FD, MESSAGES, EXCHANGE = 2, 3, 5, 6, 12, 13
			HANDOVER = 5
			FORMER = {b"web": b"web~2", b"web~1": b"web"}

			with open(sys.argv[1], "r+b", buffering=0) as roster:
			    rows = roster.read()[FIRST:]
			    for at in range(0, len(rows) - SIZE + 1, SIZE):
			        kind, path = rows[at], rows[at + PATH:].split(b"\0", 1)[0]
			        if kind not in (PROCESS, GOAL, LEASE, LEASE_FD, MESSAGES) or path not in FORMER:
			            continue
			        if kind == GOAL and path == b"web~1":
			            roster.seek(FIRST + at)
			            roster.write(struct.pack("<II", GOAL, HANDOVER))
			        # As the first of all rows it has its path of after the hand-over.
			        else:
			            roster.seek(FIRST + at + PATH)
			            roster.write(FORMER[path] + b"\0")
			    row = bytearray(SIZE)
			    row[:8] = struct.pack("<II", EXCHANGE, 2)
			    row[PATH:PATH + 3], row[NAME:NAME + 5] = b"web", b"web~1"
			    roster.seek(FIRST + -(-len(rows) // SIZE) * SIZE)
			    roster.write(row)
		END
	done
}

story() { # NAME
	local old new front slow connection third
	echo ready >"$dir/word"
	launch "$swansongd" --keeper -v -c "$ini" --socket "$socket"
	wait_for 10 ctl_answers || die "swansongd answers"
	ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
	front=$(pid_of front)
	old=$(pid_of web)
	ask_until_answer "$dir/slow"
	slow=$asked connection=$asking
	wait_for 5 is_taken_by "$old" || die "a run has a request"
	"$swansongctl" guard web -- sleep 1000 &
	holder=$!
	cleanup_fn end_process "$holder"
	wait_for 10 has_leases web 1 || die "it has a guard, too"

	# Both are up, and one of them is stopping.
	ok "$1: a restart" ctl restart web
	new=$(pid_of web)
	fault "$1, with a predecessor"
	ok "$1: both runs are there" wait_for 5 has_paths 'db web web~1 front'
	is "$1: with their processes" "$(pid_of web) $(pid_of 'web~1') $(pid_of front)" "$new $old $front"
	is "$1: and generations" "$(field web .generation) $(field 'web~1' .generation)" '2 1'
	is "$1: the earlier one is stopping" "$(state 'web~1')" stopping
	is "$1: and has the guard" "$(leases 'web~1') $(leases web)" '1 0'

	exchange_back "$(worker)"
	fault "$1, in the middle of an exchange"
	ok "$1: both runs have their names" wait_for 5 has_paths 'db web web~1 front'
	is "$1: with their processes as before" "$(pid_of web) $(pid_of 'web~1') $(pid_of front)" "$new $old $front"
	is "$1: the earlier one is stopping, too" "$(state 'web~1')" stopping
	is "$1: and has its guard" "$(leases 'web~1') $(leases web)" '1 0'

	# A successor that is not ready.
	echo later >"$dir/word"
	ok "$1: the next restart begins" ctl restart --no-wait web
	ok "$1: with a successor" wait_for 5 has_state 'web~3' starting
	third=$(pid_of 'web~3')
	fault "$1, with a successor"
	ok "$1: the successor is ended" wait_for 10 gone "$third"
	is "$1: the others go on" "$(pid_of web) $(pid_of 'web~1') $(pid_of front)" "$new $old $front"
	echo ready >"$dir/word"
	ok "$1: and the hand-over begins once more" wait_for 10 is_up_anew web "$new"
	ok "$1: the second run ends" wait_for 10 gone "$new"
	is "$1: a service that requires it was not touched" "$(pid_of front)" "$front"

	answer "$connection"
	wait "$slow"
	is "$1: the request is answered by the run that had it" "$(server "$dir/slow")" "$old"
	end_process "$holder"
	ok "$1: in the end there is one run" wait_for 10 has_paths 'db web front'
	ok "$1: and no other process" wait_for 5 has_processes slow-server 1
	ask 1 "$dir/fast"
	wait "$asked"
	is "$1: which answers" "$(server "$dir/fast")" "$(pid_of web)"
	stop_daemon
	is "$1: the daemon ends" "$status" 0
	ok "$1: and nothing is left" wait_for 5 has_processes 'slow-server|idle' 0
}

# Without a keeper, the next daemon stops what it finds, and starts the services again.
another() { # NAME
	local old new slow connection
	echo ready >"$dir/word"
	launch "$swansongd" -v -c "$ini" --socket "$socket"
	wait_for 10 ctl_answers || die "swansongd answers"
	ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
	old=$(pid_of web)
	ask_until_answer "$dir/slow"
	slow=$asked connection=$asking
	wait_for 5 is_taken_by "$old" || die "a run has a request"
	ok "$1: a restart" ctl restart web
	new=$(pid_of web)
	end_process "$daemon"
	launch "$swansongd" -v -c "$ini" --socket "$socket"
	wait_for 10 ctl_answers || die "the next swansongd answers"
	answer "$connection"
	ok "$1: the service is up again" wait_for 20 is_up_anew web "$new"
	wait "$slow"
	is "$1: a request is answered" "$(server "$dir/slow")" "$old"
	ok "$1: and both runs of before have ended" wait_for 10 gone "$old" "$new"
	ok "$1: with their nodes" wait_for 10 has_paths 'db web front'
	stop_daemon
	is "$1: the daemon ends" "$status" 0
	ok "$1: and nothing is left" wait_for 5 has_processes 'slow-server|idle' 0
}

kind=ABRT story "a fault"
kind=KILL story "SIGKILL"
another "another daemon"
. "${0%/*}/cgroup-lib.sh"
swansongd_in_cgroup() { in_cgroup "$dir/swansongd" "$@"; }
kind=ABRT story "a fault, with control groups"
kind=KILL story "SIGKILL, with control groups"
another "another daemon, with control groups"
has_no_groups() { [ -z "$(groups_left)" ]; }
ok "no control group is left" wait_for 5 has_no_groups
finish
