#!/bin/bash
# What a process runs as, beside its user: limits and the like, from the configuration to the kernel.
. "${0%/*}/lib.sh"

limit() { # NODE NAME: its soft and hard value
	awk -v name="$2" 'index($0, name "  ") == 1 {
		$0 = substr($0, length(name) + 1); print $1, $2 }' "/proc/$(pid_of "$1")/limits"
}

config <<END
[limits]
limit-nofile = 100:200
limit-core = 0
[limits/own]
command = $helpers/idle
limit-nofile = 64
limit-fsize = 1M:2M
limit-cpu = 1000:2000
[limits/inherited]
command = $helpers/idle
[plain]
command = $helpers/idle
[refused]
command = $helpers/idle
limit-nofile = 2000000000
restart = never
END
start_daemon
wait_for 10 has_state limits/inherited up || die "the services are up"
wait_for 10 has_state refused failed || die "an impossible limit is a failed start"
is "a number is both limits" "$(limit limits/own 'Max open files')" "64 64"
is "soft and hard" "$(limit limits/own 'Max file size')" "1048576 2097152"
is "of seconds" "$(limit limits/own 'Max cpu time')" "1000 2000"
is "inherited" "$(limit limits/own 'Max core file size')" "0 0"
is "from above" "$(limit limits/inherited 'Max open files')" "100 200"
is "else the daemon's" "$(limit plain 'Max file size')" \
	"$(ulimit -f | sed 's/.*/& &/')"
ok "what cannot be is named" says "$log" 'refused: cannot start: set limit-nofile: Operation not permitted'
stop_daemon
is "the end is graceful" "$status" 0
finish
