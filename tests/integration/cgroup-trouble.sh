#!/bin/bash
# Control groups that multiply, freeze, are full, or cannot be had.
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"

# A limit on processes does not bound root.
install -m 755 "$helpers/breeder" "$dir/breeder"
config <<END
[breeder]
command = $dir/breeder 150 60
user = 64123
group = 64123
stop-timeout = 300ms
[frozen]
command = $helpers/signal-log $dir/frozen 0
stop-timeout = 20s
[steady]
command = $helpers/idle
restart = always
restart-delay = 10ms
[again]
command = sh -c 'trap "" TERM; sleep 1000 & sleep 0.2; exit 3'
restart-delay = 10ms
restart-limit = none
stop-timeout = 300ms
END
start_daemon
ran() { [ "$(grep -c 'again: exited with status 3' "$log")" -ge 3 ]; }
ok "a service that was killed with its group runs again" wait_for 30 ran
ctl stop again >/dev/null
is "and each time to its end" "$(grep -c 'again: killed by SIGKILL before\|again: killed by SIGKILL; again' "$log")" 0
has_many() { [ "$(members breeder | wc -l)" -gt 100 ]; }
ok "a service forks without end" wait_for 20 has_many
kill -KILL "$(pid_of steady)"
restarted() { [ "$(field steady .service.restarts)" = 1 ] && has_state steady up; }
ok "another service is restarted meanwhile" wait_for 10 restarted
ok "its stop comes to an end" by_force timeout 30 "$swansongctl" stop breeder
ok "no process of it is left" not pgrep -u 64123
wait_for 5 says "$dir/frozen" ready || die "the other one is there"
echo 1 >"$(group frozen)/cgroup.freeze"
wait_for 5 says "$(group frozen)/cgroup.events" 'frozen 1' || die "it is frozen"
ok "a frozen service is thawed to be stopped" timeout 10 "$swansongctl" stop frozen
is "and had its signal" "$(tail -n 1 "$dir/frozen")" TERM
ok "and was not killed" not says "$log" 'frozen: killing'
stop_daemon
is "no group is left" "$(groups_left)" ""

# Two groups can be made: that of the services and the daemon's own.
echo 2 >"$cgroup/cgroup.max.descendants"
: >"$log"
config <<END
[one]
command = bash -c '(setsid sleep 1000 &); exec $helpers/idle'
[two]
command = $helpers/idle
cgroup-pids-max = 100
END
start_daemon
ctl wait --for ready
is "services do without groups if there can be no more" "$(state one) $(state two)" "up up"
is "the missing group is logged once" "$(grep -c 'no control group: .*; later services may have none either' "$log")" 1
ok "remaining processes are found by their mark" wait_for 5 has_kinds_of_guards one "leftover process"
stop_daemon
is "and ended" "$status" 0
ok "and no process is left" wait_for 10 nobody_else
echo max >"$cgroup/cgroup.max.descendants"

: >"$log"
mount -o remount,bind,ro "$cgroup_mount" || die "it can be made read-only"
# shellcheck disable=SC2034  # for what is sourced
swansongd=$top_builddir/swansongd
start_daemon
ctl wait --for ready
like "without rights it works without" "$(group_of "$(pid_of one)")" "^$(group_of $$)\$"
ok "and logs it for services that ask for a group" says "$log" 'no control groups: '
ok "and for a service with a limit" says "$log" \
	'two: cgroup-pids-max has no effect: swansongd has no control groups'
sed -i 's/cgroup-pids-max/cgroup-memory-max/' "$ini"
ok "also when that is reloaded" ctl reload
ok "the missing limit is logged" wait_for 10 says "$log" 'two: cgroup-memory-max has no effect'
ctl wait --for ready --timeout 10s
ok "remaining processes are found by their mark" wait_for 5 has_kinds_of_guards one "leftover process"
stop_daemon
is "and ended" "$status" 0
ok "and no process is left" wait_for 10 nobody_else
mount -o remount,bind,rw "$cgroup_mount"
finish
