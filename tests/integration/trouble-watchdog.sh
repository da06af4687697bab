#!/bin/bash
# A daemon that stood still does not count that time against services that sent signs of life meanwhile.
. "${0%/*}/lib.sh"
requires_package python3 python3

names="a b c d e f g h"
for name in $names; do
	mkfifo "$dir/$name"
	service "$name" | sed "/^command/s|=.*|= /usr/bin/env python3 $top_srcdir/tests/helpers/talker.py $dir/$name|"
	printf 'watchdog = 1h\nrestart = never\n'
done | config
tell_all() { # COMMAND...: returns when each has confirmed it
	local name
	for name in $names; do
		echo "$*" >"$dir/$name"
	done
	wait_for 20 have_done "$*" || die "all have done it: $*"
}
have_done() { [ "$(grep -oF "talker: did $1" "$log" | wc -l)" = 8 ]; } # COMMAND
are_up() { [ "$(ctl status --json | jq -c '[.nodes[].service.state | select(. == "up")] | length')" = 8 ]; }

start_daemon
tell_all say STATUS=x
tell_all say WATCHDOG_USEC=5000000
kill -STOP "$daemon"
began=$(now)
tell_all say 'WATCHDOG=1|WATCHDOG_USEC=3600000000'
spent() { [ "$(now)" -gt $((began + 6000)) ]; }
wait_for 20 spent
kill -CONT "$daemon"
ok "all are up" are_up
ok "and none has been found dead" not says "$log" 'no keep-alive message'
stop_daemon
is "the daemon ends" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
finish
