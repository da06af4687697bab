#!/bin/bash
# A process in the group of a service that swansongd cannot see, as it is of an outer pid namespace (a
# debugger that was moved into the group), is waited for all the same.
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"

outside() { # NODE COMMAND...: runs it in the group of the node; $pid is its pid
	local node=$1
	shift
	"$@" >>"$dir/outside" 2>&1 </dev/null &
	pid=$!
	cleanup_fn end_process "$pid"
	echo "$pid" >"$(group "$node")/cgroup.procs" || die "it is put into the group of $node"
}
end_outside() {
	kill -TERM "$pid" && wait "$pid" 2>/dev/null
}
main_is_gone() { [ "$(pid_of "$1")" = null ]; } # NODE

in_namespace() {
	in_cgroup unshare --pid --fork --kill-child --mount --mount-proc "$top_builddir/swansongd" "$@"
}
# shellcheck disable=SC2034  # for what is sourced
swansongd=in_namespace

config <<END
[web]
command = $helpers/idle
[app]
command = $helpers/idle
restart = always
restart-delay = 10ms
[tough]
command = $helpers/idle
stop-timeout = 300ms
END
start_daemon
ctl wait --for ready >"$dir/out"

outside web sleep 1000
is "it can be seen from here" "$(members web | grep -c "^$pid\$")" 1
ctl stop --no-wait web >"$dir/out" 2>&1
ok "the main process ends" wait_for 5 main_is_gone web
ok "without it" kill -0 "$pid"
is "the stop is not complete" "$(field web .state)" shutting_down
ok "and does not become so" not timeout 1 "$swansongctl" wait web --for complete
end_outside
ok "before it has gone" timeout 10 "$swansongctl" wait web --for complete
ok "and then there is no group" not test -e "$(group web)"

outside app sleep 1000
main=$(members app | grep -vx "$pid")
kill -KILL "$main"
ok "the main process of another one ends" wait_for 5 main_is_gone app
ok "without it" kill -0 "$pid"
ok "which is not started beside it" not timeout 1 "$swansongctl" wait app --for ready
end_outside
restarted() { has_state app up && [ "$(field app .service.restarts)" = 1 ]; }
ok "but when it has gone" wait_for 10 restarted

outside tough "$helpers/stubborn" "$dir/stubborn"
wait_for 5 test -s "$dir/stubborn" || die "the stubborn one is there"
ok "a process that does not end is killed with the group" by_force timeout 10 "$swansongctl" stop tough
ok "and the kill is reported" says "$dir/by_force" 'tough: killed the remaining processes of the control group, [0-9]+'
ok "at the end of the budget" wait_for 5 is_zombie_or_gone "$pid"
ok "and there is no group" not test -e "$(group tough)"
"$swansongctl" shutdown >"$dir/out" 2>&1
await_daemon 10
is "the shutdown is complete" "$status" 0
is "no group is left" "$(groups_left)" ""
ok "and no process" wait_for 10 nobody_else
finish
