#!/bin/bash
# Services on demand: the first connection starts them and is served, and an idle one stops.
. "${0%/*}/lib.sh"
requires_package python3 python3

# A server of the sockets that it is given.  A connection sends a word: "pid" is answered; "exit N" ends
# the server; a connection that stays open is served until its client closes it.  With a path GATE, a
# stop waits until that FIFO has had a writer.
cat >"$dir/server" <<-'END'
	#!/usr/bin/env python3
	import os, select, signal, socket, sys
	if len(sys.argv) > 1:
	    signal.signal(signal.SIGTERM, lambda *_: (open(sys.argv[1]).read(), os._exit(0)))
	listeners = [socket.socket(fileno=3 + i) for i in range(int(os.environ["LISTEN_FDS"]))]
	open_ones = []
	while True:
	    for ready in select.select(listeners + open_ones, [], [])[0]:
	        if ready in listeners:
	            if ready.type == socket.SOCK_DGRAM:
	                data, sender = ready.recvfrom(100)
	                ready.sendto(b"%d\n" % os.getpid(), sender)
	            else:
	                open_ones.append(ready.accept()[0])
	            continue
	        line = ready.recv(100)
	        if line.startswith(b"exit"):
	            os._exit(int(line.split()[1]))
	        if line:
	            ready.sendall(b"%d\n" % os.getpid())
	        else:
	            open_ones.remove(ready)
	            ready.close()
END
# client ADDRESS WORD [HOLD]: prints the answer, and keeps the connection until the FIFO is closed by a writer.
cat >"$dir/client" <<-'END'
	#!/usr/bin/env python3
	import socket, sys
	kind, address = sys.argv[1].split(":", 1)
	if kind == "unix":
	    link = socket.socket(socket.AF_UNIX)
	    to = address
	else:
	    host, port = address.rsplit(":", 1)
	    family = socket.AF_INET6 if ":" in host else socket.AF_INET
	    link = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
	    to = (host.strip("[]"), int(port))
	link.settimeout(60)
	link.connect(to)
	link.sendall(sys.argv[2].encode() + b"\n")
	print(link.recv(100).decode().strip(), flush=True)
	if len(sys.argv) > 3:
	    open(sys.argv[3]).read()
END
chmod +x "$dir/server" "$dir/client"
client() { "$dir/client" "$@" 2>&1; }
# A connection that stays open until release NAME.
hold() { # NAME ADDRESS
	mkfifo "$dir/hold-$1"
	"$dir/client" "$2" pid "$dir/hold-$1" >"$dir/held-$1" &
	wait_for 60 test -s "$dir/held-$1"
}
release() { : >"$dir/hold-$1"; } # NAME

demand() { # NODE LISTEN [LINE...]
	printf '[%s]\ncommand = %s/server\nautostart = on-demand\nlisten = %s\n' "$1" "$dir" "$2"
	shift 2
	[ $# = 0 ] || printf '%s\n' "$@"
}
is_connected() { [ -n "$(ss -Htn state established "dport = $1")" ]; } # PORT
idle='idle-timeout = 200ms'
{
	demand admin tcp:127.0.0.1:8080
	demand tcp tcp:127.0.0.1:8081 "$idle"
	demand tcp6 'tcp:[::1]:8082' "$idle"
	demand unix "unix:$dir/unix" "$idle"
	demand udp udp:127.0.0.1:8083 "$idle"
	demand leased tcp:127.0.0.1:8084 "$idle"
	demand slow tcp:127.0.0.1:8085 "$idle" | sed "s|/server$|/server $dir/gate|"
	demand used tcp:127.0.0.1:8086 'idle-timeout = 3s'
	service web 'requires = admin tcp'
} | config
start_daemon
ok "the tree is ready although nothing was called" ctl wait --timeout 60s --for ready
is "a service on demand is listening" "$(state admin)" listening
is "and ready" "$(field admin .service.ready)" true
is "without a process" "$(pid_of admin)" null
like "which status shows" "$(ctl status admin)" 'waits for: +a connection'
ok "it is healthy" ctl health
is "a service that requires it runs" "$(state web)" up
web=$(pid_of web)

answer=$(client tcp:127.0.0.1:8080 pid)
like "the first connection is served" "$answer" '^[0-9]+$'
is "by the process that it started" "$(pid_of admin)" "$answer"
is "the next one by the same" "$(client tcp:127.0.0.1:8080 pid)" "$answer"
ok "the log names the reason" says "$log" 'admin: starting for a connection'
client tcp:127.0.0.1:8080 'exit 0' >/dev/null
ok "a process that ends with success waits again" wait_for 10 has_state admin listening
like "and is started again" "$(client tcp:127.0.0.1:8080 pid)" '^[0-9]+$'
before=$(pid_of admin)
client tcp:127.0.0.1:8080 'exit 1' >/dev/null
ok "a service that fails is restarted by its restart key" wait_for 10 is_up_anew admin "$before"

# --- Idle ----------------------------------------------------------------------------------------

for node in tcp:tcp:127.0.0.1:8081 'tcp6:tcp:[::1]:8082' "unix:unix:$dir/unix"; do
	name=${node%%:*} address=${node#*:}
	ok "$name: a connection is served" hold "$name" "$address"
done
ok "udp: a datagram is served" client udp:127.0.0.1:8083 pid
ok "and then the service stops" wait_for 10 has_state udp listening
ok "a service without connections is idle" says "$log" 'udp: shutting down: idle for 200ms'
# The datagrams are the clock: two idle periods pass while the other services hold a connection.
client udp:127.0.0.1:8083 pid >/dev/null
ok "again" wait_for 10 has_state udp listening
for name in tcp tcp6 unix; do
	is "$name: an open connection keeps the service" "$(pid_of "$name")" "$(cat "$dir/held-$name")"
	release "$name"
	ok "$name: without it, the service stops" wait_for 10 has_state "$name" listening
done
is "a service that requires it goes on" "$(pid_of web)" "$web"
ok "a connection to the stopped service is served" client tcp:127.0.0.1:8081 pid
is "services without an idle-timeout stay" "$(state admin)" up
mkfifo "$dir/guarded"
ok "a connection starts another one" hold leased tcp:127.0.0.1:8084
ctl guard leased -- cat "$dir/guarded" >/dev/null &
guarding=$!
ok "it has a guard" wait_for 10 has_leases leased 1
release leased
client udp:127.0.0.1:8083 pid >/dev/null
ok "two idle periods of another service pass" wait_for 10 has_state udp listening
is "the guard keeps the service" "$(state leased)" up
echo >"$dir/guarded"
wait "$guarding"
ok "without it, the service stops" wait_for 10 has_state leased listening

mkfifo "$dir/gate"
first=$(client tcp:127.0.0.1:8085 pid)
ok "a service that ends slowly is stopped" wait_for 10 has_state slow stopping
"$dir/client" tcp:127.0.0.1:8085 pid >"$dir/second" &
waiting=$!
ok "a connection comes meanwhile" wait_for 10 is_connected 8085
is "it is not served yet" "$(state slow) $(cat "$dir/second")" "stopping "
: >"$dir/gate"
wait "$waiting"
like "but by the next run" "$(cat "$dir/second")" '^[0-9]+$'
ok "which is another process" test "$first" != "$(cat "$dir/second")"
ok "and stops, too" wait_for 10 has_state slow stopping
: >"$dir/gate"
ok "until the next connection" wait_for 10 has_state slow listening

# The loop gets no event of a connection that the service has accepted and closed before it looks.
is_after() { [ "$(now)" -gt "$1" ]; } # MILLISECONDS
is_served_unseen() {                  # by process USED; notes the longest pause
	local answer
	kill -STOP "$daemon"
	wait_for 10 is_stopped "$daemon"
	answer=$(client tcp:127.0.0.1:8086 pid)
	kill -CONT "$daemon"
	pause=$(($(now) - last > pause ? $(now) - last : pause)) last=$(now)
	wait_for 10 is_after $((last + 200))
	[ "$answer" = "$used" ]
}
used=$(client tcp:127.0.0.1:8086 pid) began=$(now) last=$(now) pause=0
while is_served_unseen && ! is_after $((began + 9000)); do :; done
name="short connections that the daemon cannot see keep a service"
if [ $pause -lt 2900 ]; then
	is "$name" "$(pid_of used)" "$used"
else
	skip "$name" "machine: a pause of $pause ms between them"
fi
ok "without them, it stops" wait_for 20 has_state used listening

# --- Requests ------------------------------------------------------------------------------------

starts() { grep -c 'leased: started, pid' "$log"; } # it stops 200 ms later
before=$(starts)
ok "a start runs a service on demand" ctl start leased
is "at once" "$(starts)" $((before + 1))
ok "and it stops when it is idle" wait_for 10 has_state leased listening
ok "a stop ends the waiting" ctl stop leased
is "the service is down" "$(state leased)" down
"$dir/client" tcp:127.0.0.1:8084 pid >"$dir/waited" 2>&1 &
waiting=$!
client udp:127.0.0.1:8083 pid >/dev/null
ok "a connection does not start it" has_state leased down
ok "until it is started by hand" ctl start leased
wait "$waiting"
like "and the connection that has waited is served" "$(cat "$dir/waited")" '^[0-9]+$'

# --- Failures ------------------------------------------------------------------------------------

ok "a shutdown with services that wait" ctl shutdown
await_daemon 10
is "ends at once" "$status" 0
{
	demand fails tcp:127.0.0.1:8090 'restart-limit = 2/30s' 'restart-delay = 10ms' \
		"start-command = test -e $dir/mended"
	service needs 'requires = fails'
	demand group/fails tcp:127.0.0.1:8091 'restart = never' "start-command = test -e $dir/mended"
	demand quits tcp:127.0.0.1:8092 'restart-delay = 200ms' | sed 's|/server$|/quits|'
	demand moves tcp:127.0.0.1:8093
	demand clock udp:127.0.0.1:8095
} | config
sed -i "1i [swansong]\\nstate = $dir/state" "$ini"
# It ends well without accepting, until it may accept.
cat >"$dir/quits" <<-'END'
	#!/bin/sh
	dir=${0%/*}
	echo run >>"$dir/runs"
	test ! -e "$dir/accepts" || exec "$dir/server"
END
chmod +x "$dir/quits"
touch "$dir/runs"
has_runs() { [ "$(wc -l <"$dir/runs")" -ge "$1" ]; } # LEAST
: >"$log"
start_daemon
ok "a tree with services that fail is ready" ctl wait --timeout 60s --for ready
client tcp:127.0.0.1:8090 pid >"$dir/refused" &
refused=$!
ok "a service that fails at once is restarted until its limit" wait_for 10 has_state fails failed
wait "$refused"
like "then connections are refused" "$(client tcp:127.0.0.1:8090 pid)" 'refused'
like "also the one that has waited" "$(cat "$dir/refused")" 'reset|refused'
ok "the log gives the command to go on" says "$log" 'fails: failed: connections are refused until .*start fails'
ok "a tree with it is not healthy" not ctl health
client tcp:127.0.0.1:8091 pid >/dev/null
ok "so does one without restarts" wait_for 10 has_state group/fails failed
touch "$dir/mended"
ok "a start by hand" ctl start fails
like "opens the socket again" "$(client tcp:127.0.0.1:8090 pid)" '^[0-9]+$'
ok "a start of its group" ctl start group
ok "makes the service wait again" wait_for 10 has_state group/fails listening
like "for a connection that is served" "$(client tcp:127.0.0.1:8091 pid)" '^[0-9]+$'

# --- Reload --------------------------------------------------------------------------------------

began=$(now)
client tcp:127.0.0.1:8092 pid >/dev/null &
quits=$!
ok "a process that ends well without accepting is started again" wait_for 10 has_runs 3
within "but not in a hurry" $(($(now) - began)) 300 9000
touch "$dir/accepts"
wait "$quits"
ok "until it serves" wait_for 10 has_state quits up

sed -i 's/8093/8094/' "$ini"
ok "a reload of a service that waits" ctl reload
like "moves its socket" "$(client tcp:127.0.0.1:8094 pid)" '^[0-9]+$'
# A child that the daemon has just made has a copy of it for a moment.
is_refused() { client tcp:127.0.0.1:8093 pid | grep -q refused; }
ok "and closes the former one" wait_for 10 is_refused
sed -i '/^\[moves\]/a idle-timeout = 100ms' "$ini"
ok "a reload sets a timeout" ctl reload
ok "which stops the running process" wait_for 10 has_state moves listening
ok "a reload ends the waiting" ctl disable moves
ok "of a service that is disabled" wait_for 10 has_state moves down
client tcp:127.0.0.1:8094 pid >"$dir/disabled" &
waiting=$!
client udp:127.0.0.1:8095 pid >/dev/null # another service is called later, and answers
is "a connection does not start it" "$(state moves)" down
ok "until it is enabled" ctl enable moves
wait "$waiting"
like "then the connection is served" "$(cat "$dir/disabled")" '^[0-9]+$'
ok "it stops" wait_for 10 has_state moves listening
sed -i '/^\[moves\]/,/^$/s/on-demand/yes/' "$ini"
ok "a reload ends the waiting" ctl reload
ok "and starts the service" wait_for 10 has_state moves up

printf '[a]\ncommand = true\nautostart = on-demand\n' >"$dir/bad.ini"
like "a service on demand without a socket is refused" "$(ctl check "$dir/bad.ini" 2>&1)" \
	"autostart: 'on-demand' waits for a connection: set listen"
finish
