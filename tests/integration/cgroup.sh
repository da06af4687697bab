#!/bin/bash
# A service is the processes of its control group: none can leave it, and none gets in by a name.
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"

mkfifo "$dir/worker.go"
config <<END
[web/nginx]
command = $helpers/idle
[escaper]
command = bash -c '$dir/escape $helpers/signal-log $dir/worker 0 $dir/worker.go; exec $helpers/idle'
[forger]
command = bash -c '$dir/escape SWANSONG_NODE=web/nginx sleep 1000; exec $helpers/idle'
[tough]
command = bash -c '$dir/escape $helpers/stubborn $dir/stubborn; exec $helpers/idle'
stop-timeout = 300ms
[bounded]
command = $helpers/idle
cgroup-pids-max = 7
cgroup-memory-max = 64M
cgroup-cpu-weight = 50
END
start_daemon
ctl wait --for ready

like "a service is in its group" "$(group_of "$(pid_of web/nginx)")" '/swansong-[0-9a-f]*/node:web:nginx$'
is "and alone" "$(members web/nginx)" "$(pid_of web/nginx)"
like "swansongd is in one without groups" "$(group_of "$daemon")" '/swansongd-[0-9a-f]*$'
for one in pids:pids.max:7 memory:memory.max:67108864 cpu:cpu.weight:50; do
	IFS=: read -r controller file want <<<"$one"
	if grep -qw "$controller" "$cgroup/cgroup.controllers"; then
		is "$file is set" "$(cat "$(group bounded)/$file")" "$want"
	else
		ok "a missing controller is logged" says "$log" \
			"bounded: cgroup-$controller-[a-z]* has no effect: this control group has no controller $controller"
		skip "$file is set" "machine: no controller $controller in version 2"
	fi
done
is "the service runs all the same" "$(state bounded)" up
ok "an escaped process is a remaining process" wait_for 5 has_kinds_of_guards escaper "leftover process"
ok "even if it claims another service" wait_for 5 has_kinds_of_guards forger "leftover process"
ok "of its own service only" has_kinds_of_guards web/nginx "process"
# It has the name that it has when it is found: its program may begin later.
ok "and is named" wait_for 20 says "$log" 'forger: found remaining pid [0-9]+ \([a-z]+\)'

wait_for 5 says "$dir/worker" ready || die "the worker has begun"
ctl stop --no-wait escaper >"$dir/out" 2>&1
ok "it gets the stop signal" wait_for 5 says "$dir/worker" TERM
main_is_gone() { [ "$(pid_of escaper)" = null ]; }
ok "the main process ends" wait_for 5 main_is_gone
is "the stop is not complete" "$(field escaper .state)" shutting_down
echo >"$dir/worker.go"
ok "before the group is empty" timeout 10 "$swansongctl" wait escaper --for complete
ok "and then there is no group" not test -e "$(group escaper)"

old=$(members forger | sort)
kill -KILL "$(pid_of forger)"
restarted() { has_state forger up && [ "$(field forger .service.restarts)" = 1 ]; }
ok "it is started again" wait_for 10 restarted
# shellcheck disable=SC2086
ok "when nothing is left of the run before" gone $old
wait_for 5 has_kinds_of_guards forger "leftover process"

wait_for 5 test -s "$dir/stubborn" || die "the stubborn one is there"
mkdir "$(group tough)/own" && cat "$dir/stubborn" >"$(group tough)/own/cgroup.procs"
stop_daemon
is "a process that does not end is killed" "$status" 124
ok "and named" says "$log" 'tough: killing'
ok "in any group below" gone "$(cat "$dir/stubborn")"
is "no group is left" "$(groups_left)" ""
ok "and no process" wait_for 10 nobody_else
finish
