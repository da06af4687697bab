#!/bin/bash
# The agent of a node reports a stop to balancers before the services of the node are signalled.
. "${0%/*}/lib.sh"
requires_package python3 python3

server="$top_builddir/contrib/examples/http-server --abrupt --port"

# The reply of an agent: its first line, or all of its lines.  The milliseconds until then are added to $dir/asked,
# without the start of Python, which may take seconds on a busy machine.
ask() { # ADDRESS [TEXT-TO-SEND-FIRST]
	python3 - "$dir/asked" "$@" <<-'PYTHON'
		import socket, sys, time
		begun = time.monotonic()
		where, text = sys.argv[2], "".join(sys.argv[3:])
		if where.startswith("/"):
		    link = socket.socket(socket.AF_UNIX)
		    link.settimeout(20)
		    link.connect(where)
		else:
		    link = socket.create_connection(("127.0.0.1", int(where)), 20)
		if text:
		    link.sendall(text.encode())
		print(link.makefile().read().replace("\r", ""), end="")
		open(sys.argv[1], "a").write(f"{(time.monotonic() - begun) * 1000:.0f}\n")
	PYTHON
}
says_word() { [ "$(ask "$1" 2>&1)" = "$2" ]; } # ADDRESS LINE
get='GET / HTTP/1.1
Host: localhost

'

# --- Behind a balancer ---------------------------------------------------------------------------

# Three servers that end at once at SIGTERM, and requests that are sent once.
tree() {
	local i
	echo '[shop]'
	for i in 1 2 3; do
		cat <<-END
			[shop/$i]
			command = $server 800$i
			ready = tcp:127.0.0.1:800$i
			drain-delay = 1500ms
			agent = $([ $i != 3 ] && echo tcp: || echo http://)127.0.0.1:900$i
		END
	done
	cat <<-END
		[slow]
		command = $helpers/signal-log $dir/slow 0
		drain-delay = 1h
		restart = never
		agent = tcp:127.0.0.1:9010
	END
}
balancer() {
	cat >"$dir/haproxy.cfg" <<-END
		global
		    stats socket $dir/stats
		    h1-case-adjust connection Connection
		    h1-case-adjust content-length Content-Length
		defaults
		    mode http
		    timeout connect 5s
		    timeout client 60s
		    timeout server 60s
		    retries 0
		    option h1-case-adjust-bogus-client
		frontend f
		    bind 127.0.0.1:8080
		    default_backend b
		backend b
		    option httpchk GET /
		    server s1 127.0.0.1:8001 check inter 200ms agent-check agent-port 9001 agent-inter 500ms
		    server s2 127.0.0.1:8002 check inter 200ms agent-check agent-port 9002 agent-inter 20ms agent-send "hello\n"
		    server s3 127.0.0.1:8003 check port 9003 inter 100ms fall 1 rise 1
	END
	haproxy -db -f "$dir/haproxy.cfg" >"$dir/haproxy.log" 2>&1 &
	cleanup_fn end_process $!
	balancer=$!
}
column() { # SERVER NUMBER: of show stat
	python3 - "$dir/stats" "$1" "$2" <<-'PYTHON'
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect(sys.argv[1])
		s.sendall(b"show stat\n")
		for line in s.makefile():
		    cells = line.split(",")
		    if cells[:2] == ["b", sys.argv[2]]:
		        print(cells[int(sys.argv[3]) - 1])
	PYTHON
}
has_status() { [ "$(column "$1" 18)" = "$2" ]; } # SERVER STATUS

tree | config
start_daemon
ok "the tree becomes ready" ctl --timeout 60s wait --for ready
is "a service that is ready is up, also after it was down" "$(ask 9001)" 'up ready'
is "by HTTP the status is 200" "$(ask 9003 "$get" | head -n 1)" 'HTTP/1.0 200 OK'
like "status shows the word" "$(ctl status shop/1)" 'agent: +replies ready to balancers'

has_served() { [ "$(column "$1" 8)" -gt "$2" ]; } # SERVER REQUESTS: more than these
await_use() { # NUMBER: the balancer sends requests to the server
	wait_for 20 has_status "s$1" UP || die "the balancer uses $1"
	wait_for 20 has_served "s$1" "$(column "s$1" 8)" || die "$1 gets requests"
}

# A restart under load, once the balancer sends requests to the server again.
restart_each() {
	local i pid
	for i in 1 2 3; do
		await_use $i
		pid=$(pid_of shop/$i)
		ctl restart shop/$i --timeout 60s >/dev/null || die "$i is restarted"
		[ "$(pid_of shop/$i)" != "$pid" ] || die "$i is another process"
	done
}
count() { # NAME
	sed -n "\$s/.*\b$1=\([0-9]*\).*/\1/p" "$dir/load"
}
if command -v haproxy >/dev/null; then
	balancer
	ok "the balancer uses the last server" wait_for 20 has_status s3 UP
	"$helpers/http-load" 8080 100 200 >"$dir/load" &
	load=$!
	cleanup_fn end_process $load
	ok "there are answers" wait_for 20 says "$dir/load" '^answered'
	restart_each
	restart_each
	for i in 1 2 3; do await_use $i; done
	kill -TERM $load
	ok "the load ends" wait_for 30 gone $load
	tail -n 1 "$dir/load" | comment
	is "two restarts of each server lose no request" "$(count failed)" 0
	ok "each process has answered" test "$(count servers)" -ge 9
	ok "there were many requests" test "$(count requests)" -gt 1000
	# Work with the server keeps it until that was seen.
	mkfifo "$dir/seen"
	# shellcheck disable=SC2016  # for the inner shell
	ctl guard --using shop/1 -- sh -c 'trap "" TERM; echo >"$0.held"; read -r _ <"$0"' "$dir/seen" &
	using=$!
	ok "work uses a server" wait_for 10 test -e "$dir/seen.held"
	ctl stop shop/1 >/dev/null &
	stopping=$!
	ok "a server that is stopped is drained" wait_for 10 has_status s1 'DRAIN (agent)'
	echo >"$dir/seen"
	wait $using
	wait $stopping
	ok "then it is down" wait_for 10 has_status s1 'DOWN (agent)'
	ctl start shop/1 >/dev/null
	ok "a server that is started is used again" wait_for 10 has_status s1 UP
	like "a balancer that sends something has the line as well" "$(column s2 63)" 'L7OK$'
	end_process "$balancer"
else
	skip "a rolling restart loses no request" "package haproxy"
fi

# --- Words ---------------------------------------------------------------------------------------

is "a service without readiness is ready when it runs" "$(ask 9010)" 'up ready'
ctl stop slow >/dev/null &
stopping=$!
ok "a stop changes the word" wait_for 10 says_word 9010 drain
is "before the service is signalled" "$(state slow)" draining
ok "which knows nothing of it" not says "$dir/slow" TERM
ctl shutdown slow --force --timeout 10s >/dev/null
wait "$stopping" || : # it was forced
is "at its end it is down" "$(ask 9010)" down
ctl stop shop/3 >/dev/null
is "which HTTP calls unavailable" "$(ask 9003 "$get" | head -n 1)" 'HTTP/1.0 503 Service Unavailable'
is "the word is the text" "$(ask 9003 "$get" | tail -n 1)" down
ctl start shop >/dev/null

# --- Hostile clients -----------------------------------------------------------------------------

descriptors_before=$(descriptors)
python3 - "$dir/hold" <<-'PYTHON' &
	import os, socket, sys, time
	links = [socket.create_connection(("127.0.0.1", port), 20) for _ in range(500) for port in (9001, 9003)]
	for n, link in enumerate(links):
	    link.settimeout(20)
	    if n % 3 == 0:
	        link.send(b"GET / HT")
	body = socket.create_connection(("127.0.0.1", 9003), 20)
	body.send(b"POST / HTTP/1.1\r\nContent-Length: 10000000\r\n\r\n")
	try:
	    for _ in range(1000):
	        body.send(b"x" * 10000)
	except OSError:
	    pass
	open(sys.argv[1], "w").close()
	time.sleep(1000)
PYTHON
hostile=$!
cleanup_fn end_process $hostile
ok "1,000 connections stay open, and 10 MB are sent" wait_for 60 test -e "$dir/hold"
: >"$dir/asked"
is "the next one is answered" "$(ask 9001)" 'up ready'
is "by HTTP as well" "$(ask 9003 "$get" | head -n 1)" 'HTTP/1.0 200 OK'
within "in time" "$(awk '{ sum += $1 } END { print sum }' "$dir/asked")" 0 3000
ok "the daemon keeps none of them" wait_for 10 has_descriptors "$descriptors_before"
end_process $hostile

# --- Reload --------------------------------------------------------------------------------------

pids=$(pid_of shop/1),$(pid_of shop/2)
sed -i "s|agent = tcp:127.0.0.1:9001|agent = tcp:127.0.0.1:9004|; /9002/d; s|http://127.0.0.1:9003|unix:$dir/agent,mode=0606|" "$ini"
ok "a reload changes agents" ctl reload
is "an agent is at another address" "$(ask 9004)" 'up ready'
ok "and not at the former" not ask 9001
ok "an agent is removed" not ask 9002
is "an agent is at a path" "$(ask "$dir/agent")" 'up ready'
is "with its mode" "$(stat -c %a "$dir/agent")" 606
is "no service has been restarted" "$(pid_of shop/1),$(pid_of shop/2)" "$pids"
sed -i "s|^.shop.\$|&\nagent = tcp:127.0.0.1:9004|; s|agent = tcp:127.0.0.1:9004\$|agent = tcp:127.0.0.1:9005|" "$ini"
sed -i "0,/9005/s//9004/" "$ini"
ok "an address goes to another node" ctl reload
ctl stop shop/1 >/dev/null
is "which answers" "$(ask 9004)" down
ctl start shop/1 >/dev/null
is "a group is ready with its services" "$(ask 9004)" 'up ready'

printf '[late]\ncommand = sleep 1h\ndrain-delay = 1s\nagent = tcp:127.0.0.1:8002\n' >>"$ini"
line=$(wc -l <"$ini")
like "an address in use is refused" "$(ctl reload 2>&1)" \
	"swansong.ini:$line: \[late\] agent: cannot listen on tcp:127.0.0.1:8002: Address already in use"
sed -i 's|agent = tcp:127.0.0.1:9004|agent = http://127.0.0.1:9004|' "$ini"
like "also beside another protocol for an agent" "$(ctl reload 2>&1)" 'Address already in use'
: >"$dir/asked"
is "which keeps its own" "$(ask 9004)" 'up ready'
within "and waits for no request" "$(cat "$dir/asked")" 0 4000
sed -i 's|agent = http://127.0.0.1:9004|agent = tcp:127.0.0.1:9004|' "$ini"
sed -i '$s/8002/9005/' "$ini"
like "the address of another agent is a mistake" "$(ctl check "$ini" 2>&1)" \
	"swansong.ini:$line: \[late\] agent: .*an agent needs its own"
sed -i '$s/9005/9006/; s/^drain-delay.*//' "$ini"
like "an agent without a drain-delay is warned of" "$(ctl check "$ini" 2>&1)" \
	"\[late\] agent: has no effect in time"
stop_daemon 20
is "the daemon ends" "$status" 0
ok "the path is removed" not test -e "$dir/agent"
ok "nothing is left" wait_for 10 nobody_else
finish
