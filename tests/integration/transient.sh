#!/bin/bash
# A transient service, which no file has, is run, checked, ordered and stopped as the others are, survives
# reloads, and is removed when it has ended.
. "${0%/*}/lib.sh"

{ echo '[jobs]'; echo 'umask = 077'; echo 'environment = WHERE=jobs'; service db; } | config
start_daemon
ctl wait --for ready
absent() { ! ctl list | grep -qx "$1"; }

ctl run --wait jobs/status -- sh -c 'exit 7' >"$dir/said"
is "its status is passed on" "$?" 7
is "and is reported" "$(cat "$dir/said")" "jobs/status: exited with status 7"
ok "it is gone then" wait_for 5 absent jobs/status
ctl run --wait --json jobs/json -- true >"$dir/said"
is "JSON has the result" "$(jq -c . "$dir/said")" '{"result":"exited with status 0","status":0}'
ctl run --wait jobs/none -- /nonexistent >"$dir/said"
is "a program that cannot be started is an end, too" "$?" 127

# The settings of its group in a file count, and arguments are taken as they are.
# shellcheck disable=SC2016  # for the other shell
ctl run --wait jobs/env -p "log = file:$dir/env" -p environment=HERE=%n -- \
	sh -c 'umask; echo $WHERE $HERE $1' sh 100%n
is "it inherits settings, and has those of its properties" "$(tr '\n' ' ' <"$dir/env")" \
	"0077 jobs jobs/env 100%n "

ctl run jobs/long -- true "$(head -c 70000 /dev/zero | tr '\0' x)" 2>"$dir/said"
is "a request that is too long is refused" "$? $(cat "$dir/said")" \
	"1 swansongctl: the request is too long: the daemon takes 65536 bytes in all"

ctl run jobs/idle -p requires=db -p stop-timeout=3s -- "$helpers/idle" >"$dir/said"
is "without --wait it is begun" "$(cat "$dir/said")" "jobs/idle: begun"
ok "and runs" wait_for 5 has_state jobs/idle up
idle=$(pid_of jobs/idle)
is "the same name is taken" "$(ctl run jobs/idle -- true 2>&1)" \
	"swansongctl: jobs/idle: the node exists already"

ctl run jobs/bad -p stop-timout=3s -p restart=sometimes -p requires=nope -p command=x -p control-mode=0 \
	-- true 2>"$dir/said"
is "mistakes refuse it" "$?" 1
like "with the unknown key" "$(cat "$dir/said")" "client:1: \[jobs/bad\] stop-timout: unknown key: did you mean 'stop-timeout'"
like "of each property" "$(cat "$dir/said")" "client:2: \[jobs/bad\] restart: invalid value 'sometimes'"
like "of its edges" "$(cat "$dir/said")" "client:3: \[jobs/bad\] requires: no node 'nope': expected a node of this configuration"
like "the command is not one of them" "$(cat "$dir/said")" "client:4: \[jobs/bad\] command: duplicate key"
like "nor is a key of the daemon" "$(cat "$dir/said")" "client:5: .*expected in \[swansong\]"
ok "and nothing is there" absent jobs/bad
ok "there has to be a node above it" not ctl run nope/job -- true
ok "which is a group" not ctl run db/job -- true
ok "a name is checked" not ctl run 'jobs/a b' -- true
for name in root root/job; do
	like "which is not that of the root: $name" "$(ctl run "$name" -- true 2>&1)" 'the node exists already|reserved for the root|name of the root'
done
like "nor is the root required" "$(ctl run jobs/bad -p requires=root -- true 2>&1)" "no node 'root'"
ctl run $'jobs/\xff' -- true 2>"$dir/said"
is "a name that is no text is refused" "$? $(grep -c 'invalid name: expected letters' "$dir/said")" "1 1"

# Reloads.
{ echo '[jobs]'; service db; service other; } | config
ok "a reload leaves it alone" ctl reload
is "as it is" "$(pid_of jobs/idle)" "$idle"
is "and does not count it" "$(ctl reload --dry-run)" "nothing would change"
ctl stop db
ok "it is stopped with the node that it requires" wait_for 5 gone "$idle"
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

# A transient service cannot require one of its dependents, neither at its start nor after a reload.
{ echo '[jobs]'; service jobs/slow; echo "ready = exec:test -e $dir/ready"
	service db; echo 'requires = jobs'; printf '[bad]\ncommand = false\nrestart = never\n'; } | config
ctl reload -q
wait_for 5 has_state bad failed
ctl run jobs/circle -p requires=db -- true 2>"$dir/said"
is "a cycle is refused" "$?" 1
like "with its steps" "$(cat "$dir/said")" \
	'requires: dependency cycle: db → jobs → jobs/circle → db: db requires jobs, which contains jobs/circle; jobs/circle requires db'
ok "and nothing is there" absent jobs/circle
{ echo '[jobs]'; service db; } | config
ctl reload -q && ctl wait -q --for ready
ctl run -q jobs/first -p requires=db -- "$helpers/idle"
{ echo '[jobs]'; service db; echo 'requires = jobs'; } | config
for how in --dry-run --json; do
	ctl reload $how >"$dir/said" 2>&1
	is "so is a reload that would close one ($how)" "$?" 1
	like "with the steps of that" "$(cat "$dir/said")" 'dependency cycle: .*: db requires jobs, which contains jobs/first; jobs/first requires db'
done
{ echo '[jobs]'; service db; echo 'requires = later'; service later; } | config
ok "others are not" ctl reload
ctl run later2 -p requires=jobs/first -- true 2>"$dir/said"
is "a transient service may require another" "$?" 0
ctl stop -q jobs/first

# Several.
for i in 1 2 3; do ctl run -q "jobs/many$i" -- "$helpers/idle"; done
ctl stop 'jobs/many*' >"$dir/said" 2>&1
is "several are stopped at once" "$? $(grep -c 'complete$' "$dir/said")" "0 3"
for i in 1 2 3; do ctl run -q "jobs/many$i" -- "$helpers/idle"; done
ctl shutdown 'jobs/many*' >"$dir/said" 2>&1
is "or shut down" "$? $(grep -c 'complete in' "$dir/said")" "0 3"
for i in 1 2; do
	ctl run -q "jobs/many$i" -p stop-timeout=100ms -p ready=log:begun -- \
		sh -c 'trap "" TERM; echo begun; while :; do sleep 0.02; done'
	wait_for 5 has_state "jobs/many$i" up
done
ctl stop 'jobs/many*' >"$dir/said" 2>&1
is "and the kills of each are reported" "$? $(grep -c ': killed pid' "$dir/said")" "1 2"
ok "which are gone" wait_for 5 absent jobs/many2
ok "a name that was never there is none" not ctl stop jobs/many9

# A client that waits gets the end in each case.
cat >"$dir/until.sh" <<'END'
until [ -e "${0%/*}/over" ]; do sleep 0.02; done
exit 5
END
ctl run --wait jobs/taken -- sh "$dir/until.sh" >"$dir/said" 2>&1 &
waiter=$!
wait_for 5 has_state jobs/taken up
{ echo '[jobs]'; service db; printf '[jobs/taken]\ncommand = sh %s\nrestart = never\n' "$dir/until.sh"; } | config
ctl reload -q
touch "$dir/over"
wait "$waiter"
is "also if a section has taken it over" "$?" 5
{ echo '[jobs]'; service db; } | config
ctl reload -q
ctl run --wait jobs/waited -- sh -c 'trap "exit 9" TERM; while :; do sleep 0.02; done' >"$dir/said" 2>&1 &
waiter=$!
wait_for 5 has_state jobs/waited up
{ service db; } | config
ok "the group of one that is waited for is removed" ctl reload
wait "$waiter"
status=$?
like "and its status is passed on" "$status" '^(9|143)$'
ok "it is gone then" wait_for 5 absent jobs/waited
ok "and its group" wait_for 5 absent jobs

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
ok "with any result" wait_for 5 absent again

if is_root; then
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
