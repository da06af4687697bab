#!/bin/bash
# The processes that get the stop signal, the signals that follow, and the processes that may remain.
. "${0%/*}/lib.sh"
[ -z "${without_cgroups:-}" ] || hide_cgroups

# Main process, another of its group, and a child that has left both; the main one ends at its signal.
cat >"$dir/family" <<END
#!/bin/sh
$helpers/signal-log $dir/\$1.member &
setsid $helpers/signal-log $dir/\$1.away &
exec $helpers/signal-log $dir/\$1.main 0 $dir/\$1.go
END
chmod 755 "$dir/family"
mkfifo "$dir/deaf.go"
for scope in main group all; do
	mkfifo "$dir/$scope.go"
	printf '[%s]\ncommand = %s/family %s\nsignal-scope = %s\n' $scope "$dir" $scope $scope
done >"$ini"
cat >>"$ini" <<END
[deaf]
command = $helpers/signal-log $dir/deaf.got 0 $dir/deaf.go
stop-timeout = 100ms
kill-signal = USR1
[parent]
command = bash -c 'setsid $helpers/signal-log $dir/parent.child 0 & exec $helpers/idle'
kill-leftovers = no
restart = always
restart-delay = 10ms
[budget]
command = bash -c 'setsid $helpers/stubborn $dir/stubborn & exec $helpers/idle'
kill-leftovers = no
shutdown-timeout = 500ms
END
start_daemon

for scope in main group all; do
	for one in main member away; do
		wait_for 5 says "$dir/$scope.$one" ready || die "$scope.$one is there"
	done
	ctl stop --no-wait "$scope" >"$dir/out"
	ok "$scope: the main process gets the signal" wait_for 5 says "$dir/$scope.main" TERM
done
ok "group: so does one of its group" wait_for 5 says "$dir/group.member" TERM
ok "all: likewise" wait_for 5 says "$dir/all.member" TERM
if says "/proc/$daemon/cgroup" '^0::' && says "/proc/$(pid_of deaf)/cgroup" '/swansong-'; then
	ok "all: so does one of its control group" wait_for 5 says "$dir/all.away" TERM
else
	skip "all: so does one of its control group" "machine: no control groups"
fi
ok "group: a child of another session does not, while its parent lives" not says "$dir/group.away" TERM
ok "main: no other process does" not says "$dir/main.member" TERM
for scope in main group all; do
	echo >"$dir/$scope.go"
	ok "$scope: complete" timeout 20 "$swansongctl" wait "$scope" --for complete
	ok "$scope: in the end everybody had it" says "$dir/$scope.away" TERM
	ok "$scope: really everybody" says "$dir/$scope.member" TERM
done

wait_for 5 says "$dir/deaf.got" ready || die "deaf is there"
ctl stop deaf >"$dir/out" 2>&1
ok "the kill-signal comes at the stop-timeout" says "$dir/deaf.got" USR1
ok "SIGKILL follows, and it was forced" says "$log" 'deaf: complete.*forced'

wait_for 5 says "$dir/parent.child" ready || die "the parent has a child"
child=$(pgrep -f "$dir/parent.child")
kill -KILL "$(pid_of parent)"
restarted() { has_state parent up && [ "$(field parent .service.restarts)" = 1 ]; }
ok "a restart does not wait for a process that may stay" wait_for 5 restarted
ok "it stays" kill -0 "$child"
ok "and has not been asked to go" not says "$dir/parent.child" TERM
ok "with a guard of its own" wait_for 5 has_kinds_of_guards parent "leftover process"
ok "a stop ends the main process" timeout 20 "$swansongctl" stop parent
is "and waits for nothing else" "$(kinds_of_guards parent) $(field parent .state)" "leftover leftover complete"
pkill -TERM -f "$dir/parent.child"

wait_for 5 test -s "$dir/stubborn" || die "the stubborn one is there"
ctl stop budget >"$dir/out" 2>&1
ok "a stop of the service kills nothing of that" kill -0 "$(cat "$dir/stubborn")"
ok "and is not forced" says "$log" 'budget: complete in [^(]*$'
ok "except by force" ctl shutdown budget --force
ok "it is killed then" wait_for 5 gone "$(cat "$dir/stubborn")"
stop_daemon
ok "no process is left" wait_for 10 nobody_else
finish
