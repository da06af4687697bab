#!/bin/bash
# The daemon ends at a system call of an upgrade, before it or in the next image, and of another request: by SIGKILL
# with a keeper, by a fault without one.  One daemon goes on, of the one program or the other; no service is touched,
# and no client waits for ever.
#
#	CALLS=all WORLD_TIMEOUT=3600 upgrade-killed.sh		at each call, not at 20 of them
. "${0%/*}/lib.sh"

own_program
mkfifo "$dir/hold"
config <<END
[db]
command = $helpers/idle
control = yes
[web]
command = $helpers/idle
requires = db
[done]
command = sh -c 'echo done >>$dir/done'
type = oneshot
[count]
command = $counting
log = file:$dir/count.log
stop-signal = KILL
END

pids() { for node in db web count; do pid_of $node; done | xargs; }
begin() { # [--keeper]
	rm -f "$dir/done" "$dir/count.log"
	launch "$swansongd" "$@" -v -c "$ini" --socket "$socket"
	wait_for 10 ctl_answers || die "swansongd answers"
	ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
	ctl guard db --why backup -- cat "$dir/hold" >/dev/null &
	guard=$!
	wait_for 10 has_leases db 1 || die "the guard is held"
	old=$(pids)
	tries=0
}
end() {
	echo >"$dir/hold"
	wait "$guard"
	ctl shutdown --timeout 60s >/dev/null || broken "the shutdown"
	await_daemon 20
	[ "$status" = 0 ] || broken "the exit status is $status"
	wait_for 5 nobody_else || broken "a process is left"
	has_each_line 20 || broken "lines are lost or doubled"
}

# --- One try ---

at= # the number of the call
broken() { # FAULT
	result 1 "$mode at call $at: $1"
	tail -n 40 "$log" | comment
}
goes_on() {
	wait_for 10 ctl_answers || broken "no daemon answers" || return
	ctl wait --for ready --timeout 60s >/dev/null || broken "not all are ready"
	[ "$(pids)" = "$old" ] || broken "a service was touched"
	[ "$(<"$dir/done")" = "done" ] || broken "what was done ran again"
	wait_for 5 has_leases db 1 || broken "the guard is lost"
}
is_traced() { says "$dir/at" traced; }
try() { # NUMBER
	local tracer pid=$daemon keeper=
	at=$1
	[[ $mode != keeper* ]] || { pid=$(worker) keeper=$daemon; }
	rm -f "$dir/at"
	"$helpers/kill-at" "$(kill -l "$signal")" "$at" "$pid" ${keeper:+"$keeper"} >"$dir/at" 2>&1 &
	tracer=$!
	wait_for 5 is_traced || skip_all "machine: refuses ptrace ($(tail -n 1 "$dir/at"))"
	timeout 8 "$swansongctl" "$command" >"$dir/out" 2>&1
	got=$?
	[ "$got" != 124 ] || broken "there is no reply"
	kill "$tracer" 2>/dev/null
	wait "$tracer"
	goes_on
	tries=$((tries + 1))
}

# --- With a keeper, and without ---

sweep() { # MODE SIGNAL COMMAND OUTPUT [OPTION...]
	local calls step
	mode="$1, $3" signal=$2 command=$3
	begin "${@:5}"
	try 1000000
	like "$mode: it goes well" "$got $(cat "$dir/out")" "^0 $4"
	calls=$(tail -n 1 "$dir/at")
	step=1
	[ "${CALLS-}" = all ] || step=$((calls / 20 + 1))
	for ((n = 1; n <= calls; n += step)); do
		# So many faults are allowed in a minute.
		[ "$tries" -lt 5 ] || { end && begin "${@:5}"; }
		try "$n"
	done
	end
	echo "$calls calls, each ${step}th tried" | comment
	result $((n_failed > 0)) "$mode: nothing is lost at any call"
}
version=$("$swansongd" --version)
upgraded="upgraded to ${version#* }, from ${version#* }\$"
sweep keeper KILL upgrade "$upgraded" --keeper
sweep fault SEGV upgrade "$upgraded"
sweep keeper KILL status 'NODE +STATE' --keeper
sweep fault SEGV status 'NODE +STATE'
finish
