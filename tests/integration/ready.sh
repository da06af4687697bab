#!/bin/bash
# Each probe of readiness, and replies that do not count as ready.
. "${0%/*}/lib.sh"
requires_package python3 python3

server="/usr/bin/env python3 $top_srcdir/tests/helpers/http-server.py"
config <<END
[swansong]
log = inherit
[socket@]
instances = one
command = /usr/bin/env python3 -c 'import socket, sys; open(sys.argv[1]).read(); s = socket.create_server(sys.argv[2], family=socket.AF_UNIX); s.accept(); s.accept()' $dir/go $dir/%i.sock
ready = unix:$dir/%i.sock
[http]
command = $server 127.0.0.1 8001 $dir/http
ready = http://127.0.0.1:8001/ready?a=b%20c
health-timeout = 1s
[six]
command = $server ::1 8002 $dir/six
ready = http://[::1]:8002
[exec@]
instances = one
command = $helpers/idle
ready = exec:sh -c 'echo "try of \$0 in \$PWD" >>$dir/tries; echo noise; sleep 1000 & echo \$! >>$dir/left; exec test -e $dir/%i.ready' %n
directory = $dir
[hangs]
command = $helpers/idle
ready = exec:sh -c 'echo \$\$ >>$dir/hangs; [ -e $dir/hangs.ready ] || exec sleep 1000'
health-timeout = 1s
[lines]
command = sh -c 'printf "not yet\nserver is "; read -r x <$dir/lines; printf "REA"; echo >&2 between; read -r x <$dir/more; echo DY on port 80; exec $helpers/idle'
ready = log:^server is READY( on port [0-9]+)?\$
[errors]
command = sh -c 'echo out; echo "<4>ready to serve" >&2; exec $helpers/idle'
ready = log:ready to
stdout = file:$dir/errors.out
stderr = file:$dir/errors.err
[commands]
start-command = echo serving
command = sh -c 'read -r x <$dir/after; echo serving; exec $helpers/idle'
ready = log:^serving\$
[silent]
command = sh -c 'echo serving; exec $helpers/idle'
ready = log:^serving\$
log = null
[again]
command = sh -c 'echo run; [ -e $dir/again ] || { echo >$dir/again; echo serving; sleep 0.1; exit 1; }; read -r x <$dir/gate; echo serving; exec $helpers/idle'
ready = log:^serving\$
log = file:$dir/again.log
[flood]
command = sh -c 'seq 1 7000000 | head -c 50000000; echo; echo flooded; exec $helpers/idle'
ready = log:^flooded\$
log = file:$dir/flood
log-size = infinity
start-timeout = 5min
[absent]
command = $helpers/idle
ready = exec:$dir/absent.sh
restart = never
start-timeout = 1s
END
mkfifo "$dir/go" "$dir/lines" "$dir/more" "$dir/gate" "$dir/after"
echo 500 >"$dir/http"
echo split >"$dir/six"
start_daemon

is "without its socket it is starting" "$(state socket@one)" starting
echo >"$dir/go"
ok "the socket appears, and it is up" wait_for 10 has_state socket@one up

# --- HTTP ----------------------------------------------------------------------------------------

more_than() { [ "$(wc -l <"$2" 2>/dev/null)" -gt "$1" ]; } # LINES FILE
debug_says() { says "$log" "$1: not ready yet: $2"; }
ok "a status of 500 is none" wait_for 10 debug_says http 'HTTP status 500'
for answer in "404 HTTP status 404" "garbage the answer is not HTTP" "closed closed without" \
	"nothing no answer in time" "endless the answer is not HTTP" "099 the answer is not HTTP"; do
	echo "${answer%% *}" >"$dir/http"
	ok "nor is '${answer%% *}'" wait_for 10 debug_says http "${answer#* }"
	: >"$log"
done
is "it is starting all the time" "$(state http)" starting
echo huge >"$dir/http"
ok "the rest of the response does not matter" wait_for 10 has_state http up
ok "an answer may come in pieces, and from elsewhere" wait_for 10 has_state six up

# --- Commands ------------------------------------------------------------------------------------

left_is_gone() { # all processes that the attempts have left behind
	local pid
	while read -r pid; do is_zombie_or_gone "$pid" || return 1; done <"$1"
}
ok "a command is tried again" wait_for 10 more_than 1 "$dir/left"
touch "$dir/one.ready"
ok "until it ends with 0" wait_for 10 has_state exec@one up
ok "and processes that an attempt leaves behind end with it" wait_for 10 left_is_gone "$dir/left"
ok "it runs as the service does" says "$dir/tries" "^try of exec@one in $dir\$"
ok "its output is not in the log" not says "$log" '^noise'
ok "a probe that hangs is ended, and tried again" wait_for 10 more_than 2 "$dir/hangs"
touch "$dir/hangs.ready"
ok "until it does not" wait_for 10 has_state hangs up
ok "all of them are gone" wait_for 10 left_is_gone "$dir/hangs"
ok "a service with a missing probe is not ready" wait_for 10 has_state absent failed
is "and the start has failed" "$(field absent .service.result)" \
	"was not ready within its start-timeout"

# --- Lines ---------------------------------------------------------------------------------------

is "a line that is not ended is none" "$(state lines)" starting
echo >"$dir/lines"
echo >"$dir/more"
ok "it may come in pieces, and among others" wait_for 10 has_state lines up
ok "the output still goes to its destination" wait_for 10 says "$log" 'DY on port 80$'
ok "a line of the other stream will do" wait_for 10 has_state errors up
is "each goes its own way" "$(cat "$dir/errors.out"):$(cat "$dir/errors.err")" \
	"out:<4>ready to serve"
ok "a line without a destination will do, too" wait_for 10 has_state silent up
ok "a line of a command before the service will not" wait_for 10 has_state commands starting
echo >"$dir/after"
ok "a line of the service does" wait_for 10 has_state commands up
runs() { [ "$(grep -c '^run$' "$dir/again.log")" = "$1" ]; }
ok "after a run that was ready the next one runs" wait_for 10 runs 2
is "and is not ready by the lines of another" "$(state again)" starting
echo >"$dir/gate"
ok "but by its own" wait_for 10 has_state again up
ok "a flood passes" wait_for 120 has_state flood up
is "and arrives whole" "$(cksum <"$dir/flood")" \
	"$({ seq 1 7000000 | head -c 50000000; echo; echo flooded; } | cksum)"
stop_daemon
is "the end is graceful" "$status" 0

# --- The output has no reader --------------------------------------------------------------------

mkfifo "$dir/pipe"
exec 9<>"$dir/pipe"
config <<END
[swansong]
log = inherit
[stuck]
command = sh -c 'echo ready; seq 1 1000000; echo the end; exec $helpers/idle'
ready = log:^ready\$
log-full = block
END
"$swansongd" -v -c "$ini" --socket "$socket" >"$dir/pipe" 2>>"$log" </dev/null 9<&- &
daemon=$!
cleanup_fn end_process "$daemon"
wait_for 10 ctl_answers || die "swansongd answers"
ok "a full pipe is no trouble for the daemon" wait_for 10 has_state stuck up
ok "it still answers" ctl status
is_waiting() { [[ $(cat "/proc/$(pid_of stuck)/task/"*/children 2>/dev/null) ]]; }
ok "the service waits" is_waiting
sed '/^the end$/q' <&9 >"$dir/read" &
reader=$!
ok "until the output is read" wait_for 20 is_zombie_or_gone "$reader"
is "and gets all of it" "$(cksum <"$dir/read")" "$({ echo ready; seq 1 1000000; echo the end; } | cksum)"
stop_daemon
is "the end of that is graceful, too" "$status" 0

# --- There is no logger --------------------------------------------------------------------------

config <<END
[unread]
command = sh -c 'echo ready; exec $helpers/idle'
ready = log:^ready\$
log = file:$dir/unread
restart = never
END
export SWANSONG_LOGGER=$dir/no-such-program
start_daemon
ok "without swansong-logger the start fails" wait_for 10 has_state unread failed
like "and the reason names it" "$(field unread .service.result)" 'for ready = log by swansong-logger'
stop_daemon
finish
