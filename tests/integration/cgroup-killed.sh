#!/bin/bash
# Services that a killed swansongd has left are ended by the next one, before it starts anything.
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"

mkfifo "$dir/worker.go"
config <<END
[web]
command = $helpers/signal-log $dir/worker 0 $dir/worker.go
END
start_daemon
wait_for 5 says "$dir/worker" ready || die "the worker has begun"
old=$(pid_of web)
end_process "$daemon"
ok "it outlives the daemon" kill -0 "$old"

# A daemon without a control socket takes no part in this: its services run and end undisturbed.
launch "$swansongd" -q --socket none -- true
await_daemon 10
ok "it is not touched" kill -0 "$old"

start_daemon
ok "the next one names it" says "$log" 'web: ending 1 processes of an earlier swansongd'
ok "and asks it to end" wait_for 5 says "$dir/worker" TERM
is "nothing runs beside it" "$(state web)" down
echo >"$dir/worker.go"
ok "when it has done its work it is gone" wait_for 5 gone "$old"
ctl wait --for ready
ok "then the service starts" has_state web up
echo >"$dir/worker.go"
stop_daemon

# The next remaining service does not end.
config <<END
[tough]
command = $helpers/stubborn $dir/stubborn
END
start_daemon
wait_for 5 test -s "$dir/stubborn" || die "the stubborn one is there"
old=$(cat "$dir/stubborn")
end_process "$daemon"
start_daemon
is "nothing starts while it is there" "$(state tough)" down
ok "it is" kill -0 "$old"
stop_daemon 5
is "a stop does not wait for it" "$status" 0
ok "but it is killed" wait_for 2 gone "$old"
is "no group is left" "$(groups_left)" ""
finish
