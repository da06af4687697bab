#!/bin/bash
# A program of the library is attached: swansong_attach(), in an example that gets no stop signal.
. "${0%/*}/lib.sh"
. "${0%/*}/attach-lib.sh"

config <<END
[web]
command = $top_builddir/contrib/examples/threaded-tcp-server 8011
attach = yes
ready = tcp:127.0.0.1:8011
stop-signal = WINCH
restart-delay = 10ms
END
start_daemon
has_process() { [ "$(program web pid)" = "$(pid_of web)" ]; }
is_another() { [ "$(state web)" = up ] && [ "$(pid_of web)" != "$1" ]; }

wait_for 30 has_state web up || die "the server runs"
exec {one}<>/dev/tcp/127.0.0.1/8011 {other}<>/dev/tcp/127.0.0.1/8011
ok "each connection is a guard" wait_for 10 counts web 2
ok "of the process that is attached" has_process
exec {other}>&-
ok "until it ends" wait_for 10 counts web 1

pid=$(pid_of web)
kill -KILL "$pid"
wait_for 10 is_another "$pid" || die "it is started again"
is "the guards of a program that crashes are none" "$(program web count)" ""
exec {one}>&- {one}<>/dev/tcp/127.0.0.1/8011
ok "the guards of the next run are counted" wait_for 10 counts web 1

echo "slow song" >&"$one"
ok "a request is in flight" wait_for 10 says "$log" 'answering$'
ctl stop web &
read -r -t 10 answer <&"$one"
is "it is answered after the stop" "$answer" "slow song"
wait "$!"
is "the stop is done" "$?" 0
ok "and the program has ended by itself" says "$log" 'drained$'
is "and was not killed but by us" "$(grep -c "killed by SIGKILL" "$log")" 1
exec {one}>&-
stop_daemon
is "everything ends" "$status" 0
finish
