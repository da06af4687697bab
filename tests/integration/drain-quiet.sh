#!/bin/bash
# A drain-delay ends early once no client comes any more, and lasts to its end while one does.
. "${0%/*}/lib.sh"
requires_package python3 python3

# Short connections, each after the one before, until $dir/quit is there: "N failed of M,
# longest pause N ms, last at MILLISECONDS".
cat >"$dir/client.py" <<'PYTHON'
import os, socket, sys, time
port, quit, last, failed, n, pause = int(sys.argv[1]), sys.argv[2], 0, 0, 0, 0
open(quit + ".begun", "w").close()
while not os.path.exists(quit):
    now = time.time()
    pause, last, n = max(pause, now - (last or now)), now, n + 1
    try:
        with socket.create_connection(("127.0.0.1", port), 20) as link:
            link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            if not link.makefile().read().startswith("HTTP/1.1 200"):
                failed += 1
    except OSError as e:
        failed += 1
    time.sleep(0.1)
print("%d failed of %d, longest pause %d ms, last at %d" % (failed, n, pause * 1000, last * 1000))
PYTHON
client_begins() { # PORT
	rm -f "$dir"/quit*
	python3 "$dir/client.py" "$1" "$dir/quit" >"$dir/client" &
	client=$!
	cleanup_fn end_process $client
	wait_for 20 test -e "$dir/quit.begun" || die "the client begins"
}
client_ends() {
	touch "$dir/quit"
	wait $client
	comment <"$dir/client"
}
last() { sed 's/.*at //' "$dir/client"; }
signalled() { # NODE: when, in milliseconds
	date -d "$(sed -n "s/^\([^ ]*Z\) swansongd: $1: SIGTERM to.*/\1/p" "$log" | tail -n 1)" +%s%3N
}

is_after() { [ "$(now)" -gt "$1" ]; } # MILLISECONDS

server=$top_builddir/contrib/examples/http-server
config <<END
[own]
command = $server --abrupt --port 8001
ready = tcp:127.0.0.1:8001
drain-delay = 40s
drain-quiet = 2s
[given]
command = $server --abrupt
listen = tcp:127.0.0.1:8002
ready = notify
fd-store-max = 0
drain-delay = 40s
drain-quiet = 2s
[busy]
command = $server --abrupt --port 8003
ready = tcp:127.0.0.1:8003
drain-delay = 4s
drain-quiet = 2s
END
start_daemon
ok "the services are ready" ctl --timeout 60s wait --for ready

drains() { # NODE PORT: stopped under connections, which go on for 3 seconds
	local begun stopping
	client_begins "$2"
	begun=$(now)
	ctl --timeout 60s stop "$1" >/dev/null &
	stopping=$!
	ok "$1 drains" wait_for 10 has_state "$1" draining
	like "status shows the time since the last connection" "$(ctl status "$1")" \
		'draining: +no connection for [0-9.]+'
	wait_for 20 is_after $((begun + 3000)) # longer than drain-quiet
	is "$1 drains as long as they come" "$(state "$1")" draining
	client_ends
	wait $stopping
	like "no connection is lost" "$(cat "$dir/client")" '^0 failed'
	within "the signal comes soon after the last one" $(($(signalled "$1") - $(last))) 1950 8000
	ok "the log has the reason" says "$log" "$1: drain-delay ends early: no connection for 2.0s"
}
drains own 8001
drains given 8002

client_begins 8003
begun=$(now)
ok "a service is stopped while clients do not cease" ctl --timeout 60s stop busy
within "its drain-delay is the limit" $(($(signalled busy) - begun)) 3900 10000
client_ends

ctl --timeout 30s start own >/dev/null
ctl --timeout 30s start given >/dev/null
client_begins 8002
kill -TERM "$daemon"
ok "at the end of the tree as well" wait_for 10 says "$log" 'root: shutting down'
wait_for 20 is_after $(($(now) + 3000))
client_ends
await_daemon 20
is "the daemon ends" "$status" 0
like "no connection is lost to a socket of the daemon" "$(cat "$dir/client")" '^0 failed'
within "it is signalled after the last one" $(($(signalled given) - $(last))) 1950 8000

like "drain-quiet alone is warned of" \
	"$(printf '[a]\ncommand = x\ndrain-quiet = 1s\n' >"$ini"; ctl check "$ini" 2>&1)" \
	'drain-quiet: has no effect without its limit'
like "and that of a service without a port" \
	"$(printf '[a]\ncommand = x\ndrain-delay = 9s\ndrain-quiet = 1s\n' >"$ini"; ctl check "$ini" 2>&1)" \
	'drain-quiet: has no effect, as its connections cannot be seen'
ok "nothing is left" wait_for 10 nobody_else
finish
