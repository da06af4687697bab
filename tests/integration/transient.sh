#!/bin/bash
# A service that no file has is run, checked, ordered and stopped as the others are, survives reloads,
# and is gone when it has ended.
. "${0%/*}/lib.sh"

{ echo '[jobs]'; echo 'umask = 077'; echo 'environment = WHERE=jobs'; service db; } | config
start_daemon
ctl wait --for ready
absent() { ! ctl list | grep -qx "$1"; }

ctl run --wait jobs/status -- sh -c 'exit 7' >"$dir/said"
is "its status is passed on" "$?" 7
is "and said" "$(cat "$dir/said")" "jobs/status: exited with status 7"
ok "it is gone then" wait_for 5 absent jobs/status
ctl run --wait --json jobs/json -- true >"$dir/said"
is "programs are told, too" "$(jq -c . "$dir/said")" '{"result":"exited with status 0","status":0}'
ctl run --wait jobs/none -- /nonexistent >"$dir/said"
is "what cannot be started is an end, too" "$?" 127

# What is written in a file for the group counts, and arguments are taken as they are.
# shellcheck disable=SC2016  # for the other shell
ctl run --wait jobs/env -p "log = file:$dir/env" -p environment=HERE=%n -- \
	sh -c 'umask; echo $WHERE $HERE $1' sh 100%n
is "it inherits, and has what its properties say" "$(tr '\n' ' ' <"$dir/env")" \
	"0077 jobs jobs/env 100%n "

ctl run jobs/idle -p requires=db -p stop-timeout=3s -- "$helpers/idle" >"$dir/said"
is "without --wait it is begun" "$(cat "$dir/said")" "jobs/idle: begun"
ok "and runs" wait_for 5 has_state jobs/idle up
idle=$(pid_of jobs/idle)
is "the same name is taken" "$(ctl run jobs/idle -- true 2>&1)" \
	"swansongctl: jobs/idle: is there already"

ctl run jobs/bad -p stop-timout=3s -p restart=sometimes -p requires=nope -p command=x -p control-mode=0 \
	-- true 2>"$dir/said"
is "mistakes refuse it" "$?" 1
like "with what is wrong" "$(cat "$dir/said")" "client:1: \[jobs/bad\] stop-timout: unknown key, did you mean 'stop-timeout'"
like "of each property" "$(cat "$dir/said")" "client:2: \[jobs/bad\] restart: 'sometimes'"
like "of its edges" "$(cat "$dir/said")" "client:3: \[jobs/bad\] requires: there is no node 'nope'"
like "the command is not one of them" "$(cat "$dir/said")" "client:4: \[jobs/bad\] command: stands in"
like "nor is what belongs to the daemon" "$(cat "$dir/said")" "client:5: .*allowed in \[swansong\] only"
ok "and nothing is there" absent jobs/bad
ok "there has to be a node above it" not ctl run nope/job -- true
ok "which is a group" not ctl run db/job -- true
ok "a name is checked" not ctl run 'jobs/a b' -- true

# Reloads.
{ echo '[jobs]'; service db; service other; } | config
ok "a reload leaves it alone" ctl reload
is "as it is" "$(pid_of jobs/idle)" "$idle"
is "and does not count it" "$(ctl reload --dry-run)" "nothing would change"
ctl stop db
ok "it is stopped with what it requires" wait_for 5 gone "$idle"
ok "and gone" wait_for 5 absent jobs/idle
ctl start db
ctl run jobs/idle -- "$helpers/idle" >"$dir/said"
wait_for 5 has_state jobs/idle up
idle=$(pid_of jobs/idle)
{ service db; service jobs/idle; } | config
ok "a section of its name takes it over" ctl reload
ok "and it is one of the file then" wait_for 5 has_state jobs/idle up
idle=$(pid_of jobs/idle)
{ echo '[jobs]'; service db; } | config
ok "so that it goes with the section" ctl reload
ok "as others do" wait_for 5 gone "$idle"
wait_for 5 absent jobs/idle
ctl run jobs/idle -- "$helpers/idle" >"$dir/said"
wait_for 5 has_state jobs/idle up
idle=$(pid_of jobs/idle)
service db | config
ok "it goes with the group that it is below of" ctl reload
ok "to the last process" wait_for 5 gone "$idle"
ok "and the group after it" wait_for 5 absent jobs

# Kept.
ctl run --keep job -- sh -c 'exit 3' >"$dir/said"
ok "with --keep it stays" wait_for 5 has_state job failed
is "to be looked at" "$(field job .service.result)" "exited with status 3"
ctl run -p restart=always -p restart-delay=0 --keep again -- "$helpers/idle" >"$dir/said"
wait_for 5 has_state again up
again=$(pid_of again)
kill -KILL "$again"
ok "it is restarted if it asks for that" wait_for 5 is_up_anew again "$again"
ok "and by hand" ctl restart again
is "in its next generation" "$(field again .generation)" 2
ctl stop job again
ok "until it is stopped" wait_for 5 absent job
ok "whatever it did" wait_for 5 absent again

if [ "$(id -u)" = 0 ]; then
	chmod 666 "$socket"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$(program swansongctl)" run job -- true \
		2>"$dir/refused"
	is "not everybody may" "$?" 5
fi

ctl run last -- "$helpers/idle" >"$dir/said"
wait_for 5 has_state last up
stop_daemon
is "the end of all is graceful" "$status" 0
ok "and complete" wait_for 10 nobody_else

# Essential.
for end in 5 127; do
	[ "$end" = 5 ] && program=(sh -c 'exit 5') || program=(/nonexistent)
	service db | config
	start_daemon
	ctl run -p essential=yes -p restart=never main -- "${program[@]}" >"$dir/said"
	await_daemon 20
	is "an essential one is the end of all, with its exit status" "$status" "$end"
done
service db | config
start_daemon
ctl run -p essential=yes main -- "$helpers/idle" >"$dir/said"
wait_for 5 has_state main up
stop_daemon
is "also if all is stopped" "$status" 143
finish
