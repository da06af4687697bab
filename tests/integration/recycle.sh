#!/bin/bash
# recycle-memory and recycle-age: a service that has become large or old is restarted in order, one instance of a
# template at a time; a shutdown in the middle.
. "${0%/*}/lib.sh"
requires_package python3 python3

cat >"$dir/eater" <<-END
	import os, signal, sys, time
	size = int(open("$dir/size").read())
	memory = bytearray(b"x") * (size << 20)
	open("$dir/eaten", "a").write("x")
	signal.pause()
END
echo 64 >"$dir/size"
{
	printf '[swansong]\nhistory = %s/history\n' "$dir"
	printf '[large]\ncommand = python3 %s/eater\nrecycle-memory = 48M\n' "$dir"
	printf '[small]\ncommand = python3 %s/eater\nrecycle-memory = 512M\n' "$dir"
	# Its memory is that of a process which only its control group has; a successor has less.
	printf '[apart]\ncommand = sh -c "[ -e %s/apart ] || (touch %s/apart; setsid python3 %s/eater &); exec %s/idle"\n' \
		"$dir" "$dir" "$dir" "$helpers"
	printf 'listen = unix:%s/socket.apart\nhandover = yes\nrecycle-memory = 48M\n' "$dir"
	service old@ 'instances = 3' 'recycle-age = 2s' 'ready = exec:sleep 0.2'
	service beside
} | config
start_daemon
ok "all is ready" ctl wait --for ready --timeout 60s
have_eaten() { [ "$(cat "$dir/eaten" 2>/dev/null)" = xxx ]; }
ok "three of them have their memory" wait_for 20 have_eaten
apart=$(pid_of apart) large=$(pid_of large) small=$(pid_of small) beside=$(pid_of beside)
has_group=$(grep /swansong- "/proc/$apart/cgroup")
echo 1 >"$dir/size"
one=$(pid_of old@1)

ok "an old service is renewed" wait_for 20 is_up_anew old@1 "$one"
ok "the reason is logged" says "$log" 'old@1: shutting down: recycle-age is reached'
ok "a large one, too" wait_for 60 is_up_anew large "$large"
if [ -n "$has_group" ]; then
	ok "and one with a process apart" wait_for 60 is_up_anew apart "$apart"
else
	skip "and one with a process apart" "machine: no control groups"
fi
ok "with its reason" says "$log" 'large: shutting down: recycle-memory is exceeded'
is "a small one is not" "$(pid_of small)" "$small"
is "nor one without the keys" "$(pid_of beside)" "$beside"
is "it is no restart after a failure" "$(field large .service.restarts)" 0
one_at_a_time() { # no instance is stopped between the stop of another and its readiness
	awk '/ old@[1-3]: shutting down: recycle/ { if (busy) exit 1; busy = $3 }
		/ old@[1-3]: ready/ && $3 == busy { busy = "" }' "$log"
}
ok "the instances are renewed one after another" one_at_a_time
are_all_renewed() {
	local i
	for i in 1 2 3; do says "$log" "old@$i: shutting down: recycle-age" || return; done
}
ok "and all of them" wait_for 30 are_all_renewed
ctl history --history "$dir/history" large >"$dir/out" 2>&1
like "the history shows a planned end" "$(cat "$dir/history")" 'recycle-memory is exceeded'
kill -TERM "$daemon"
await_daemon 20
is "a shutdown in the middle ends well" "$status" 0
finish
