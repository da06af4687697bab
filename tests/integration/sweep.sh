#!/bin/bash
# SIGTERM at any moment of the start: the daemon ends, and no process remains.
. "${0%/*}/lib.sh"

config <<END
[first]
command = $helpers/idle
[once]
type = oneshot
command = true
requires = first
[second]
command = $helpers/forker --setsid $dir/grandchild
requires = once
stop-timeout = 200ms
[slow]
command = $helpers/notifier $dir/fifo
ready = notify
after = second
END
mkfifo "$dir/fifo"

program=$(program swansongd)
for ((ms = 0; ms < 100; ms += 2)); do
	launch "$swansongd" -v -c "$ini" --socket "$socket"
	# Before that it is still the shell, which may lose a signal that comes right after its birth.
	until [ "/proc/$daemon/exe" -ef "$program" ] || gone "$daemon"; do :; done
	sleep "$(printf '0.%03d' "$ms")"
	kill -TERM "$daemon"
	await_daemon 10
	# 143: it handled no signals yet.  124: the grandchild existed, and has to be killed.
	like "after $ms ms it ends" "$status" '^(0|124|143)$'
	wait_for 10 nobody_else || { others | comment; die "after $ms ms nothing is left"; }
done
finish
