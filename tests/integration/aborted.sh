#!/bin/bash
# A daemon that a watchdog aborts ends all that it runs at once, even if it hangs, and dies of the signal.
. "${0%/*}/lib.sh"
. "${0%/*}/preload-lib.sh"

{
	for ((i = 0; i < 30; i++)); do
		service "s$i"
	done
	printf '%s\n' '[stubborn]' "command = $helpers/stubborn" 'stop-timeout = 1h'
	printf '%s\n' '[breeder]' "command = sh -c 'trap \"\" TERM; (setsid $helpers/idle &); setsid $helpers/idle; :'"
	printf '%s\n' '[hook]' "command = $helpers/idle" "post-stop = touch $dir/stopped"
} | config
aborts() { # NAME
	local began
	: >"$log"
	began=$(now)
	kill -ABRT "$daemon"
	await_daemon 10
	ok "$1: no process of it is left" wait_for 2 nobody_else
	within "$1: within two seconds" $(($(now) - began)) 0 2000
	is "$1: it dies of the signal" "$status" $((128 + 6))
	ok "$1: the log reports the abort" says "$log" 'swansongd: SIGABRT: killing all services'
	ok "$1: nothing has been shut down" not says "$log" 'shutting down'
	ok "$1: and no command for that was run" test ! -e "$dir/stopped"
}

start_daemon
ctl wait --for ready --timeout 20s >/dev/null || die "all are up"
aborts 'a daemon'

hide_cgroups
start_daemon
ctl wait --for ready --timeout 20s >/dev/null || die "all are up"
aborts 'without control groups'

if [ -n "$lack" ]; then
	skip "a daemon hangs" "$lack"
	finish
fi
start_preloaded
ctl wait --for ready --timeout 20s >/dev/null || die "all are up"
: >"$faults/hang"
ctl status >/dev/null 2>&1 &
hung() { ! timeout 1 "$swansongctl" status >/dev/null 2>&1; }
ok "a daemon hangs" hung
aborts 'a daemon that hangs'
wait
finish
