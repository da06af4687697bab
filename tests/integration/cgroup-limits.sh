#!/bin/bash
# Limits of memory, processes and processor time of a service, where Linux has the controllers.
# shellcheck disable=SC2034  # for what is sourced
world=vm
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"

install -m 755 "$helpers/breeder" "$dir/breeder"
limits() { # NODE: the limits in the kernel
	cat "$(group "$1")"/{pids.max,memory.max,cpu.weight} | paste -sd ' '
}
is_set() { [ "$(limits "$1")" = "$2" ]; } # NODE LIMITS
counts() { # NODE FILE KEY: the number in there
	awk -v key="$3" '$1 == key { print $2 }' "$(group "$1")/$2"
}
spin='sh -c "while :; do :; done"'

config <<END
[bounded]
command = $helpers/idle
cgroup-pids-max = 7
cgroup-memory-max = 64M
cgroup-cpu-weight = 50
[waiting]
command = sh -c 'test -e $dir/go || exit 3; exec $helpers/idle'
restart-delay = 60s
restart-delay-max = 60s
cgroup-pids-max = 11
[free]
command = $helpers/idle
cgroup-pids-max = infinity
cgroup-memory-max = infinity
[eater]
command = tail /dev/zero
cgroup-memory-max = 16M
restart = never
[breeder]
command = $dir/breeder 150 60
user = 64123
group = 64123
cgroup-pids-max = 20
stop-timeout = 300ms
[small]
command = $helpers/idle
ready = exec:$dir/check
cgroup-memory-max = 16M
autostart = no
restart = never
[heavy]
command = $spin
cgroup-cpu-weight = 1000
autostart = no
[light]
command = $spin
cgroup-cpu-weight = 10
autostart = no
END
start_daemon
ok "no limit is without effect" not says "$log" 'has no effect|cannot set'
is "limits are set" "$(limits bounded)" "7 67108864 50"
is "as is that there is none" "$(limits free)" "max max 100"
ok "a service that takes too much memory is killed" wait_for 30 says "$log" 'eater: killed by SIGKILL'
is "and no other service" "$(state free) $(state bounded)" "up up"
is_at_limit() { [ "$(counts breeder pids.events max)" -gt 0 ]; }
ok "a service forks until its limit" wait_for 30 is_at_limit
is "which is at its limit" "$(sort -n "$(group breeder)"/pids.{current,max} | tail -n 1)" 20
ok "and is stopped" by_force timeout 30 "$swansongctl" stop breeder

used() { counts "$1" cpu.stat usage_usec; } # NODE
ctl start heavy light >"$dir/out" 2>&1
heavy=$(used heavy) light=$(used light)
has_used() { [ "$(($(used heavy) - heavy))" -gt 1000000 ]; }
ok "a service has a large share of the processor" wait_for 60 has_used
ok "and the other one little" test "$((($(used light) - light) * 10))" -lt "$(($(used heavy) - heavy))"
ctl stop heavy light >"$dir/out" 2>&1

# The service fills its group, while the program of a check does not run yet: a lease on its file keeps that.
install -m 755 "$helpers/idle" "$dir/check"
lease_file "$dir/check"
ctl start small --no-wait >"$dir/out" 2>&1
ok "the check does not run its program" wait_for 20 says "$dir/leased" waits
(echo "$BASHPID" >"$(group small)/cgroup.procs" && exec head -c 64M /dev/zero) >"$dir/fill" 2>"$dir/out"
ok "the group is too small for what its processes write" test "$(counts small memory.events oom_kill)" -gt 0
ok "which does not end the daemon" not gone "$daemon"
end_process "$leasing"
rm "$dir/fill"
ctl stop small >"$dir/out" 2>&1

# A new process has new limits, even while the group of the last one still exists.
wait_for 10 has_state waiting backoff || die "a service waits to be started again"
sed -i 's/^cgroup-pids-max = 7/cgroup-pids-max = 8/; /^cgroup-cpu-weight = 50/d; s/^cgroup-pids-max = 11/cgroup-memory-max = 32M/' "$ini"
touch "$dir/go"
ok "limits are reloaded" ctl reload
ok "the limits are those of the new process" wait_for 10 is_set bounded "8 67108864 100"
ctl start waiting >"$dir/out" 2>&1
wait_for 10 has_state waiting up || die "it is started again"
is "also of one that was to be started again" "$(limits waiting)" "max 33554432 100"
stop_daemon
is "the shutdown is complete" "$status" 0
is "no group is left" "$(groups_left)" ""
is "and the controllers of the group are as before" "$(cat "$cgroup/cgroup.subtree_control")" ""

config <<END
[bounded]
command = $helpers/idle
cgroup-pids-max = 7
cgroup-memory-max = 64M
END

: >"$log"
swansongd=$top_builddir/swansongd
start_daemon
ctl wait --for ready >"$dir/out"
is "at the top of the machine, too, limits are set" \
	"$(cat /sys/fs/cgroup/swansong-*/node:bounded/{pids,memory}.max | paste -sd ' ')" "7 67108864"
is "by a group that stays there" "$(group_of "$daemon")" /
stop_daemon
is "and leaves no group" "$(echo /sys/fs/cgroup/swansong*)" '/sys/fs/cgroup/swansong*'
is "and the controllers of the top are as before" "$(cat /sys/fs/cgroup/cgroup.subtree_control)" "cpu memory pids"

: >"$log"
echo +pids >"$cgroup/cgroup.subtree_control"
mkdir "$cgroup/few"
# shellcheck disable=SC2034  # for what is sourced
cgroup=$cgroup/few swansongd=swansongd_in_cgroup
start_daemon
ctl wait --for ready >"$dir/out"
is "a controller that is there is used" "$(cat "$(group bounded)/pids.max")" 7
ok "a missing controller is logged" says "$log" \
	'bounded: cgroup-memory-max has no effect: this control group has no controller memory'
ok "and only that one" not says "$log" 'cgroup-pids-max has no effect'
stop_daemon
is "the shutdown is complete" "$status" 0

# Linux has no controllers for the groups below one that has processes itself.
: >"$log"
in_cgroup "$helpers/idle" &
other=$!
cleanup_fn end_process "$other"
wait_for 5 grep -qx "$other" "$cgroup/cgroup.procs" || die "there is another process in the group"
start_daemon
ctl wait --for ready >"$dir/out"
ok "other processes in the group are logged as the reason" says "$log" \
	'cgroup-pids-max has no effect: the controller pids cannot be used: .*; other processes are in the control group of swansongd'
is "the service runs all the same" "$(state bounded)" up
ok "in a group" test -d "$(group bounded)"
stop_daemon
is "the shutdown is complete" "$status" 0
finish
