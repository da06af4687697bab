#!/bin/bash
# A service that ignores its signal is killed at its stop-timeout, with all processes it left behind, and
# named.
. "${0%/*}/lib.sh"

config <<END
[stubborn]
command = $helpers/stubborn $dir/stubborn
stop-timeout = 3s
[plain]
command = $helpers/forker $dir/plain
stop-timeout = 3s
[session]
command = $helpers/forker --setsid $dir/session
stop-timeout = 3s
[polite]
command = $helpers/idle
END
start_daemon
ctl wait --for ready
for name in stubborn plain session; do
	wait_for 5 test -s "$dir/$name" || die "$name is there"
done
polite=$(pid_of polite)

began=$(now)
kill -TERM "$daemon"
ok "the polite one is gone at once" wait_for 5 gone "$polite"
for name in stubborn plain session; do
	ok "$name is given its time" kill -0 "$(cat "$dir/$name")"
done
await_daemon 30
took=$(($(now) - began))
is "the exit status is that of a forced stop" "$status" 124
within "the kill came at the timeout" "$took" 2900 20000
for name in stubborn plain session; do
	ok "$name is gone" wait_for 10 gone "$(cat "$dir/$name")"
	ok "the log names $name" says "$log" "$said$name: killing "
done
ok "and the whole as forced" says "$log" 'root: complete.*forced'
ok "the log does not blame the polite one" not says "$log" 'polite: killing'
ok "nothing is left" wait_for 10 nobody_else
finish
