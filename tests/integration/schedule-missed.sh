#!/bin/bash
# Scheduled runs that are missed while the daemon does not run are made up for, once.
. "${0%/*}/lib.sh"

runs=$dir/state.runs
touch "$dir"/ran-{calendar,member,hour,starts,off,later}
ran() { wc -l <"$dir/ran-$1"; }                     # NAME
has_run() { [ "$(ran "$1")" = "$2" ]; }             # NAME NUMBER
left() { echo $(($(field "$1" .service.scheduled_usec) / 1000000)); } # NAME: seconds until the next run
job() { # NAME SCHEDULE [LINE...]
	printf '[%s]\ncommand = sh -c "echo run >>%s/ran-%s"\nschedule = %s\n' "$1" "$dir" "${1##*/}" "$2"
	shift 2
	[ $# = 0 ] || printf '%s\n' "$@"
}
tree() {
	printf '[swansong]\nexit-when = never\n%s\n' "state = ${1:-$dir/state}"
	job calendar yearly
	job group/member yearly
	job hour 1h
	job starts yearly 'autostart = yes'
	job off yearly
	job later yearly 'schedule-jitter = 1h'
	service stays
}
# A start is over when the tree is ready.
restart_daemon() {
	stop_daemon
	: >"$log"
	start_daemon
	ctl wait --for ready --timeout 60s >"$dir/out" || die "the tree is ready"
}

tree | config
start_daemon
ctl wait --for ready --timeout 20s >"$dir/out"
is "the first start of all misses nothing" "$(ran calendar) $(ran member) $(ran hour)" "0 0 0"
is "it begins the files" "$(find "$runs" -type f -printf '%f\n' | sort | paste -sd ' ')" \
	'calendar group:member hour later off starts'

ctl disable off >"$dir/out"
stop_daemon
for file in "$runs"/*; do touch -d '400 days ago' "$file"; done
: >"$dir/ran-starts"
restart_daemon
ok "a missed run follows at the next start" wait_for 10 has_run calendar 1
ok "in a group, too" wait_for 10 has_run member 1
ok "also that of an interval" wait_for 10 has_run hour 1
like "which is in the log" "$(cat "$log")" 'calendar: scheduled run missed: one run makes up for all'
is "a service that starts with the tree runs once" "$(ran starts)" 1
is "a disabled service does not run" "$(ran off)" 0
is "with schedule-jitter it is delayed" "$(ran later)" 0
ok "by no more than that" test "$(left later)" -le 3600

ctl enable off >"$dir/out"
restart_daemon
is "after that nothing is missed" "$(ran calendar) $(ran member) $(ran hour) $(ran off)" "1 1 1 0"

# An interval goes on from the last run; a time that has not come yet cannot be past.
stop_daemon
touch -d '59 minutes ago' "$runs/hour"
touch -d '800 days' "$runs/calendar"
restart_daemon
ok "an interval goes on where it was" test "$(left hour)" -le 60
is "a clock that was put back misses nothing" "$(ran calendar)" 1
ok "and the next run is the next one of the calendar" test "$(left calendar)" -le 31622400

# The schedule goes on with any kind of file in place of the stamps.
stop_daemon
rm "$runs/calendar" "$runs/hour"
mkfifo "$runs/hour"
ln -s "$dir/elsewhere" "$runs/calendar"
restart_daemon
is "a link is not followed" "$(ls "$dir/elsewhere" 2>/dev/null)" ''
ok "the services have their schedules" test "$(left calendar)" -le 31622400
stop_daemon
rm -r "$runs"
echo garbage >"$runs"
restart_daemon
ok "a file in the place of the directory is logged" \
	says "$log" "a scheduled run may be repeated or left out .*: no file in $runs: Not a directory"
is "once" "$(grep -c 'may be repeated or left out' "$log")" 1
is "and the tree is as ever" "$(state stays)" up
tree none | config
restart_daemon
is "without a state file nothing is kept" "$(cat "$runs")" garbage
stop_daemon
finish
