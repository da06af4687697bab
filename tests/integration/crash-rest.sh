#!/bin/bash
# Faults of the daemon while services are at rest: work that was done is not done again, a service that was given up
# stays so, and a restart and a schedule keep their times.  Transient services go on as well.
. "${0%/*}/lib.sh"
requires_package jq jq

config <<END
[migrate]
command = sh -c 'echo run >>$dir/migrate'
type = oneshot
[app]
command = $helpers/idle
requires = migrate
[late]
command = $helpers/idle
requires = migrate
autostart = no
[mounted]
command = sh -c 'echo run >>$dir/mounted'
post-start = sh -c 'echo post >>$dir/mounted'
stop-command = sh -c 'echo stop >>$dir/mounted'
type = oneshot
[posting]
command = sh -c 'echo run >>$dir/posting'
post-start = sh -c 'echo post >>$dir/posting; read -r _ <$dir/post'
type = oneshot
[ending]
command = sh -c 'echo run >>$dir/ending; read -r _ <$dir/end'
type = oneshot
[simple]
command = sh -c 'echo run >>$dir/simple'
[broken]
command = sh -c 'echo run >>$dir/broken; exit 3'
type = oneshot
restart = never
on-failure-command = sh -c 'echo alert >>$dir/broken'
[missing]
command = /nowhere/missing
restart = never
[needy]
command = $helpers/idle
requires = simple broken
[flaky]
command = sh -c 'echo run >>$dir/flaky; exit 4'
restart-delay = 300s
restart-delay-max = 300s
[again]
command = sh -c 'echo run >>$dir/again; read -r _ <$dir/go'
restart = always
restart-reset = 1h
restart-delay = 10ms
[hourly]
command = sh -c 'echo run >>$dir/hourly'
schedule = 1h
autostart = yes
type = oneshot
[weekly]
command = sh -c 'echo run >>$dir/weekly'
schedule = 7d
schedule-jitter = 1d
autostart = no
type = oneshot
END
mkfifo "$dir/end" "$dir/post" "$dir/go"
exec 7<>"$dir/end" 8<>"$dir/post" 9<>"$dir/go"
start_daemon
ctl --no-wait start weekly >/dev/null
# The second one takes the place of a former one in the roster, before the first one, which it requires.
ctl run former -- "$helpers/idle" >/dev/null
ctl run first -- "$helpers/idle" >/dev/null
ctl stop former >/dev/null
ctl run second -p requires=first -- "$helpers/idle" >/dev/null
ctl run --keep kept -- sh -c "echo run >>$dir/kept" >/dev/null
rests() { # NODE STATE...
	while [ $# -gt 0 ]; do
		has_state "$1" "$2" || return
		shift 2
	done
}
at_rest=(migrate "done" app up mounted up posting readying ending starting simple "done" broken failed missing failed
	flaky backoff hourly "done" weekly "done" again up first up second up kept "done")
ok "all are where they stay" wait_for 10 rests "${at_rest[@]}"
echo >&9
ok "a service is restarted" wait_for 5 has_restarts again 0
ok "and up" wait_for 5 has_state again up
runs() { xargs <"$dir/$1"; } # NODE
says_alert() { says "$dir/broken" alert; }
ok "the end of one is reported" wait_for 5 says_alert

results() {
	ctl status --json | jq -c '[.nodes[] | select(.service) | [.path, (.service | .state, .result, .restarts)]] | sort' |
		sed 's/execute/run/'
}
left() { field "$1" .service.scheduled_usec; } # NODE: time until its next run
rested() { field "$1" .service.since_usec; }   # NODE: time in its state
before=$(results)
transient() { echo "$(pid_of first) $(pid_of second) $(runs kept)"; }
transient=$(transient)
next=$(field flaky .service.next_usec)
hourly=$(left hourly) weekly=$(left weekly)
for ((i = 1; i <= 2; i++)); do
	killed=$(now)
	kill -SEGV "$daemon"
	wait_for 10 has_faults "$i" || die "fault $i is reported"
	ok "after fault $i it answers" wait_for 10 ctl_answers
	ok "all are where they were" wait_for 10 rests "${at_rest[@]}"
	is "with their results" "$(results)" "$before"
	is "transient ones go on" "$(transient)" "$transient"
	is "work that was done is not done again" "$(runs migrate)" run
	is "nor is that of a service that is no oneshot" "$(runs simple)" run
	is "nor that of a service that is kept for its stop" "$(runs mounted)" "run post"
	is "nor that of a schedule" "$(runs hourly) $(runs weekly)" "run run"
	like "nor that of one with its later commands under way" "$(runs posting)" "^run( post)+\$"
	is "a service that was given up is not started, nor reported again" "$(runs broken)" "run alert"
	is "its dependent waits" "$(state needy)" down
	is "a restart waits" "$(runs flaky)" run
	ok "for the time that was left" [ "$(field flaky .service.next_usec)" -lt "$next" ]
	rested=$(rested migrate)
	ok "a time in a state goes on" [ "$rested" -gt $((($(now) - killed) * 1000)) ]
	ok "the next time of a schedule is the same" [ "$(left hourly)" -lt "$hourly" ]
	ok "with its jitter" [ $((weekly - $(left weekly))) -gt 0 ]
	ok "to a minute" [ $((weekly - $(left weekly))) -lt 60000000 ]
done

# --- Then they are as ever ---

kill -STOP "$daemon"
ending=$(pgrep -f "read -r _ <$dir/end" | head -n 1)
echo >&7
ok "a oneshot ends while the daemon hangs" wait_for 5 is_zombie_or_gone "$ending"
kill -SEGV "$daemon"
kill -CONT "$daemon"
wait_for 10 has_faults 3 || die "fault 3 is reported"
ok "after fault 3 it is done" wait_for 10 has_state ending "done"
is "and has run once" "$(runs ending)" run
ctl start late >/dev/null
ok "a dependent starts" wait_for 10 has_state late up
is "without the work that was done" "$(runs migrate)" run
ctl restart migrate >/dev/null
is "a restart does it" "$(runs migrate)" "run run"
ctl start broken >/dev/null 2>&1
restarted() { [ "$(runs broken)" = "run alert run alert" ]; }
ok "a start tries once more, and reports the end" wait_for 5 restarted
echo >&9
ok "restarts are counted on" wait_for 5 has_restarts again 1
ok "and their delay doubles" says "$log" 'again: exited with status 0; again in 20ms'
absent() { ! ctl list | grep -qx "$1"; }
ctl stop first >/dev/null
ok "a transient service is stopped, and its dependent first" absent second
ok "and removed" absent first
is "the one that was to stay does" "$(state kept)" "done"
ok "until it is stopped" ctl stop kept
ok "and removed, too" absent kept
echo >&8
ok "the later commands end" wait_for 5 has_state posting "done"
ctl stop mounted >/dev/null
is "a stop runs the command of a stop" "$(runs mounted)" "run post stop"
stop_daemon
is "it ends as ever" "$status" 0
finish
