#!/bin/bash
# A daemon with too many faults in a minute ends all that it runs at once, and dies of the signal.
. "${0%/*}/lib.sh"

{
	for ((i = 0; i < 30; i++)); do
		service "s$i"
	done
	printf '%s\n' '[stubborn]' "command = $helpers/stubborn" 'stop-timeout = 1h'
	printf '%s\n' '[breeder]' "command = sh -c 'trap \"\" TERM; (setsid $helpers/idle &); setsid $helpers/idle; :'"
	printf '%s\n' '[hook]' "command = $helpers/idle" "post-stop = touch $dir/stopped"
} | config
all_but_stubborn() { [ "$(ctl status --json | jq '[.nodes[] | select(.service.state == "up")] | length')" -ge 32 ]; }
faulty() {
	spend_faults
	wait_for 20 all_but_stubborn || die "all are up again"
	rm -f "$dir/stopped"
}
aborts() { # NAME
	local began
	: >"$log"
	began=$(now)
	kill -ABRT "$daemon"
	await_daemon 10
	ok "$1: no process of it is left" wait_for 2 nobody_else
	within "$1: within two seconds" $(($(now) - began)) 0 2000
	is "$1: it dies of the signal" "$status" $((128 + 6))
	ok "$1: the log reports the abort" says "$log" 'swansongd: too many faults: killing all services'
	ok "$1: nothing has been shut down" not says "$log" 'shutting down'
	ok "$1: and no command for that was run" test ! -e "$dir/stopped"
}

start_daemon
ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
faulty
aborts 'a daemon'

hide_cgroups
start_daemon
ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
faulty
aborts 'without control groups'

finish
