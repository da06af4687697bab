#!/bin/bash
# costs: what a service costs that does nothing, counted, as counts do not depend on the load of the machine: system
# calls of a start and a stop, descriptors and memory.  The bounds are what was reached with all that is on by
# default, and a little more.  Times are printed by `make bench`.
. "${0%/*}/lib.sh"

requires_package strace strace
# Each service keeps its path, so the path may not be longer where the build is deeper.
child=$dir/child
cp "$top_builddir/tests/bench/child" "$child"

# Its standard error is captured, and the child writes to its standard output only.
services() { # N [LINE]
	printf '[swansong]\nstdout = null\n'
	for ((i = 0; i < $1; i++)); do
		printf '[s%s]\ncommand = %s\n%s\n' "$i" "$child" "${2:-}"
	done
}

is_ended() { [ -s "$dir/calls" ] && grep -q ' total$' "$dir/calls"; }

# Runs N services from start to end.  Sets $calls, those of all processes, and $descriptors of the daemon.
count() { # N
	services "$1" | config
	rm -f "$dir/calls"
	launch strace -D -f -c -o "$dir/calls" "$(program swansongd)" -c "$ini" --socket "$socket"
	wait_for 60 ctl wait --for ready --timeout 60s 2>/dev/null || die "swansongd is ready"
	descriptors=$(find "/proc/$daemon/fd" -mindepth 1 | wc -l)
	stop_daemon 60
	wait_for 60 is_ended || die "strace ends"
	calls=$(awk '$NF == "total" { print $4 }' "$dir/calls")
}

# The program has its own: one that the machine does not know well is with the C library.
strace -D -c -o "$dir/own" "$child" >"$dir/pid" 2>&1 &
child_pid=$!
wait_for 10 test -s "$dir/pid" || die "the child runs"
kill "$child_pid"
wait_for 10 grep -q ' total$' "$dir/own" || die "strace ends"
own=$(awk '$NF == "total" { print $4 }' "$dir/own")

count 10
few_calls=$calls few_descriptors=$descriptors
count 110
each=$(((calls - few_calls) / 100 - own))
comment <<<"$each system calls a service, start and stop, without the $own of its program"
ok "a start and a stop need at most 90 system calls" [ "$each" -le 90 ]
each=$(((descriptors - few_descriptors) / 100))
ok "a service needs at most two descriptors, for its output" [ "$each" -le 2 ]

# Without a process: what the tree needs for it.
anonymous() { # N; prints KiB
	services "$1" 'autostart = no' | config
	launch "$(program swansongd)" -c "$ini" --socket "$socket"
	wait_for 60 ctl_answers
	awk '$1 == "Anonymous:" { print $2 }' "/proc/$daemon/smaps_rollup"
	stop_daemon 60
}

anonymous 100 >"$dir/few"
anonymous 2100 >"$dir/many"
each=$((($(<"$dir/many") - $(<"$dir/few")) * 1024 / 2000))
comment <<<"$each bytes of memory a service"
ok "a service needs at most 2,650 bytes of memory" [ "$each" -le 2650 ]
finish
