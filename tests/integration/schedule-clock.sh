#!/bin/bash
# A clock that jumps: schedules go by the new time at once, and times that were skipped are one run.
# The clock is that of a machine of its own.
# shellcheck disable=SC2034  # for what is sourced
world=vm
. "${0%/*}/lib.sh"

export TZ=UTC
set_clock() { date -s "$1" >/dev/null; } # TIME
set_clock '2026-11-23 12:00:00' || skip_all "machine: its clock cannot be set"

ran() { wc -l <"$dir/ran-$1"; }                     # NAME
has_run() { [ "$(ran "$1")" -ge "$2" ]; }           # NAME LEAST
left() { echo $(($(field "$1" .service.scheduled_usec) / 1000000)); } # NAME: seconds until the next run
has_left() { local n; n=$(left "$1"); [ "$n" -ge "$2" ] && [ "$n" -le "$3" ]; } # NAME LEAST MOST
touch "$dir"/ran-{daily,hour,ticks}
job() { # NAME SCHEDULE
	printf '[%s]\ncommand = sh -c "echo run >>%s/ran-%s"\nschedule = %s\n' "$1" "$dir" "$1" "$2"
}
{
	printf '[swansong]\nexit-when = never\nstate = %s/state\n' "$dir"
	job daily 'daily 03:00 UTC'
	job hour 1h
	job ticks 200ms
	service stays
} | config
start_daemon
ctl wait --for ready --timeout 20s >"$dir/out"
# A job by another clock proves that a time has passed without a run.
ticks_pass() { wait_for 20 has_run ticks $(($(ran ticks) + 3)); }

ok "the next run is that of the calendar" has_left daily 53000 54000
set_clock '2026-11-24 02:59:58'
ok "a clock that is put forward brings it closer" wait_for 20 has_run daily 1
is "as a single run" "$(ran daily)" 1
set_clock '2026-11-28 12:00:00'
ok "times that are skipped" wait_for 20 has_run daily 2
ticks_pass
is "are one run" "$(ran daily)" 2
set_clock '2026-11-25 12:00:00'
ticks_pass
is "a clock that is put back runs nothing" "$(ran daily)" 2
ok "and the next run is the next one from then" wait_for 20 has_left daily 53000 54000
is "an interval does not go by that clock" "$(ran hour)" 0
ok "services run on" has_state stays up

# While the daemon does not run.
set_clock '2026-11-26 03:00:30'
ok "another run" wait_for 20 has_run daily 3
stop_daemon
set_clock '2026-11-20 12:00:00'
start_daemon
ticks_pass
is "a clock that was put back meanwhile runs nothing" "$(ran daily) $(ran hour)" "3 0"
ok "and postpones nothing" has_left daily 53000 54000
stop_daemon
set_clock '2026-12-20 12:00:00'
start_daemon
ok "times that have passed meanwhile" wait_for 20 has_run daily 4
ticks_pass
is "are one run" "$(ran daily)" 4
ok "of an interval, too" has_run hour 1
stop_daemon
finish
