#!/bin/bash
# Services that run by schedule: their times, and the effects of a stop, a reload and a shutdown.
. "${0%/*}/lib.sh"

# job NAME: writes a line to runs-NAME; then blocks if there is a pipe block-NAME, and makes blocked-NAME.
cat >"$dir/job" <<-'END'
	#!/bin/bash
	trap '' TERM
	dir=${0%/*}
	echo run >>"$dir/runs-$1"
	if [ -p "$dir/block-$1" ]; then
		touch "$dir/blocked-$1"
		read -r _ <"$dir/block-$1"
	fi
	[ "$1" != fails ]
END
chmod +x "$dir/job"
runs() { wc -l <"$dir/runs-$1"; }           # NAME
has_runs() { [ "$(runs "$1")" -ge "$2" ]; } # NAME LEAST
job() { # NAME SCHEDULE [LINE...]
	printf '[%s]\ncommand = %s/job %s\nschedule = %s\n' "$1" "$dir" "${1##*/}" "$2"
	shift 2
	[ $# = 0 ] || printf '%s\n' "$@"
}
# A job that is never stopped is the clock of these tests: three runs of it take more than 400 ms.
ticks_pass() { wait_for 10 has_runs ticks $(($(runs ticks) + 3)); }

touch "$dir"/runs-{ticks,often,second,rare,fails,member,needs,holds}
{
	printf '[swansong]\nstate = %s/state\n' "$dir"
	job ticks 200ms
	job often 200ms
	job second '*:*:*'
	job rare yearly
	job fails 200ms
	service group/stays
	job group/member yearly
	service db
	job needs 200ms 'requires = db'
} | config
start_daemon
ok "a job runs at its interval" wait_for 10 has_runs often 3
ok "and at the times of a calendar" wait_for 10 has_runs second 2
ok "a job that fails runs again at the next time" wait_for 10 has_runs fails 3
ok "a job does not run before its time" not has_runs rare 1
is "status has the schedule" "$(field often .service.schedule)" 200ms
ok "and the time until the next run" test "$(field rare .service.scheduled_usec)" -gt 1000000
ok "and the time since the last run" test "$(field second .service.ran_usec)" -lt 100000000
like "for people, too" "$(ctl status rare)" 'schedule: +yearly, next run in '

mkfifo "$dir/block-often"
wait_for 10 test -e "$dir/blocked-often" || die "a run blocks"
: >"$log"
ok "a time that comes during a run is left out" \
	wait_for 10 says "$log" 'often: scheduled run left out: the last one is not over'
before=$(runs often)
ticks_pass
is "so there is one run at once" "$(runs often)" "$before"
mv "$dir/block-often" "$dir/blocking-often" # the next one is not to wait
echo >"$dir/blocking-often"
ok "and the next one comes after it" wait_for 10 has_runs often $((before + 1))

ok "a start runs the job now" ctl start rare
is "once" "$(runs rare)" 1
ok "another start runs it again" ctl start rare
is "and returns after the run" "$(runs rare)" 2
ok "also one in a group" ctl start group/member
is "which has run then" "$(runs member)" 1
stays=$(pid_of group/stays)
ok "a restart of the group" ctl restart group
ok "restarts the services in it" is_up_anew group/stays "$stays"
is "and runs no job" "$(runs member)" 1
ok "neither does a start of the group" ctl start group
is "run a job that is done" "$(runs member)" 1

ok "a job that is stopped" ctl stop often
before=$(runs often)
ticks_pass
is "does not run at its time" "$(runs often)" "$before"
ok "until it is started" ctl start often
ok "and then runs by itself again" wait_for 10 has_runs often $((before + 3))

ok "a job that is disabled" ctl disable often
before=$(runs often)
ticks_pass
ok "does not run at its time" not has_runs often $((before + 2))
ok "until it is enabled" ctl enable often
ok "and then runs by itself" wait_for 10 has_runs often $((before + 2))

mkfifo "$dir/block-needs"
ok "a run of a job that requires a service is in progress" wait_for 10 test -e "$dir/blocked-needs"
ctl stop db >"$dir/out" &
stopping=$!
ok "it is stopped with the service" wait_for 10 says "$log" 'needs: SIGTERM to pid'
mv "$dir/block-needs" "$dir/blocking-needs"
echo >"$dir/blocking-needs"
ok "when that is stopped" wait "$stopping"
before=$(runs needs)
ticks_pass
is "the job does not run" "$(runs needs)" "$before"
ok "when that is started" ctl start db
ok "the job runs again" wait_for 10 has_runs needs $((before + 1))
ok "a service that a job requires is stopped" ctl stop db
before=$(runs needs)
ticks_pass
is "the job does not run" "$(runs needs)" "$before"
ok "and does not start a service that was stopped by hand" has_state db down
ok "the log names the requirement" wait_for 10 says "$log" \
	'needs: scheduled run left out: the last one waits for db'
ok "when that is started" ctl start db
ok "the job runs again" wait_for 10 has_runs needs $((before + 1))

{
	job ticks 200ms
	job often yearly
	job rare 200ms 'schedule-jitter = 10ms'
	job holds yearly
	job zoned 'daily 12:34' 'timezone = Asia/Tokyo'
	job local 'daily 12:34 UTC'
} | config
ok "a reload changes schedules" ctl reload
ok "the tree is ready although jobs have not run" ctl wait --timeout 60s --for ready
# The seconds from the next run of the one until that of the other, the one that is earlier on a day first.
apart() { echo $((($(field "$2" .service.scheduled_usec) - $(field "$1" .service.scheduled_usec) + 86410000000) / 1000000 % 86400 / 60)); }
is "a time zone is that of its job" "$(apart zoned local)" $((9 * 60))
sed -i 's|Asia/Tokyo|Asia/Kolkata|' "$ini"
ok "a reload changes it" ctl reload
is "at once" "$(apart zoned local)" $((5 * 60 + 30))
kill -SEGV "$daemon"
ok "a fault of the daemon" wait_for 10 says "$log" "fault: SIGSEGV"
ok "does not" wait_for 10 ctl_answers
is "change it" "$(apart zoned local)" $((5 * 60 + 30))
before=$(runs rare) often=$(runs often)
ok "a job runs sooner" wait_for 10 has_runs rare $((before + 2))
ticks_pass
ok "a job runs later: the run in progress is the last" not has_runs often $((often + 2))

mkfifo "$dir/block-holds"
ctl start --no-wait holds
ok "a run is in progress" wait_for 10 has_runs holds 1
ctl shutdown --no-wait -q
ok "it is a guard that the shutdown waits for" wait_for 10 says "$log" 'holds: SIGTERM to pid'
like "which is shown" "$(ctl guards)" 'holds +process'
rare=$(runs rare)
echo >"$dir/block-holds"
await_daemon 10
is "the shutdown is graceful" "$status" 0
ok "and has started no job" not has_runs rare $((rare + 2))

# --- Mistakes ------------------------------------------------------------------------------------

refused() { # LINE... : prints the reason
	printf '[job]\ncommand = true\n' | cat - <(printf '%s\n' "$@") | config
	! ctl check "$ini" 2>&1
}
like "a schedule that never comes is refused" \
	"$(refused 'schedule = 02-30')" 'schedule: .*never comes'
like "an invalid schedule is refused" "$(refused 'schedule = sometimes')" 'schedule: .*daily 03:00'
like "and a schedule of a service that is no oneshot" "$(refused 'type = simple' 'schedule = daily')" 'type = oneshot'
finish
