#!/bin/bash
# The clock of the day may be set while services run: no timeout counts by it.  The monotonic clock may begin
# at any value.
. "${0%/*}/lib.sh"

config <<END
[crash]
command = $helpers/crasher 1
restart-delay = 50ms
restart-delay-max = 50ms
restart-limit = 5/1h
[deaf]
command = $helpers/stubborn $dir/deaf
stop-timeout = 500ms
[unready]
command = $helpers/idle
ready = fd:3
start-timeout = 300ms
restart = never
[guarded]
command = $helpers/idle
drain-delay = 300ms
END

everything() { # NAME: every kind of timeout expires in time
	ok "$1: a restart-limit is reached" wait_for 20 has_state crash failed
	is "$1: after as many restarts" "$(field crash .service.restarts)" 5
	ok "$1: a start-timeout is over" wait_for 20 has_state unready failed
	wait_for 20 test -s "$dir/deaf" || die "$1: all is there"
	stop_daemon 20
	is "$1: a stop-timeout is, too" "$status" 124
	ok "$1: and the log has the time" says "$log" \
		'deaf: killing pid [0-9]+ \(stubborn\), [0-9.]+(s|ms) after'
	ok "$1: after a delay" in_order 'guarded: up -> draining' 'guarded: draining -> waiting'
	ok "$1: nothing is left" wait_for 10 nobody_else
}

# --- A monotonic clock that began long ago, or just now ---

# The greatest that the kernel takes is less than 2^63 ns, 292 years; the offset is added to the time since
# the machine was started.
up=$(cut -d . -f 1 /proc/uptime)
for offset in 2147483600 4294967290 "-$((up > 20 ? up - 10 : 0))"; do
	if ! unshare --time --monotonic "$offset" --boottime "$offset" true 2>"$dir/refusal"; then
		skip "a clock at $offset" "machine: $(head -n 1 "$dir/refusal")"
		continue
	fi
	: >"$log"
	rm -f "$dir/deaf"
	launch unshare --time --monotonic "$offset" --boottime "$offset" "$swansongd" -v -c "$ini" \
		--socket "$socket"
	wait_for 10 ctl status >/dev/null 2>&1 || die "swansongd answers with a clock at $offset"
	everything "$offset"
done

# --- A clock of the day that is set ---

if ! command -v strace >/dev/null; then
	skip "no timer is of the clock that can be set" "package strace"
	finish
fi
: >"$log"
rm -f "$dir/deaf"
launch strace -D -qq -e trace=timerfd_create,timerfd_settime,timer_create,setitimer,clock_nanosleep \
	-o "$dir/strace" "$swansongd" -v -c "$ini" --socket "$socket"
wait_for 10 ctl status >/dev/null 2>&1 || skip_all "machine: refuses ptrace"
everything traced
ok "a timer was made" says "$dir/strace" '^timerfd_create\(CLOCK_MONOTONIC'
ok "none is of the clock that can be set" not says "$dir/strace" \
	'^setitimer|^(timerfd_create|timer_create|clock_nanosleep)\(CLOCK_(REALTIME|TAI)'
finish
