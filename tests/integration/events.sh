#!/bin/bash
# Every change of state is sent to each client that asks for events, with its reason and the cause; a service
# gets the message of an operator; and its log is found.
. "${0%/*}/lib.sh"
requires_package /usr/bin/python3 python3

cat >"$dir/trap.sh" <<'END'
trap 'echo got USR1' USR1
trap 'echo got HUP' HUP
echo begun
while :; do
	sleep 1000 &
	wait $!
done
END

# It ends when the command that asked for the end has been reaped, and not before.
cat >"$dir/asked.sh" <<'END'
asked=${0%/*}/asked
until [ -s "$asked" ] && ! kill -0 "$(cat "$asked")" 2>/dev/null; do
	sleep 0.05
done
kill -TERM $$
END

config <<END
[web/app]
command = sh $dir/trap.sh
log = file:$dir/app.log
[db]
command = $helpers/idle
[full]
command = sh $dir/asked.sh
start-command = true
post-start = true
drain-delay = 10ms
stop-command = sh -c 'echo \$\$ >$dir/asked'
post-stop = true
autostart = no
[crash]
command = sh -c 'sleep 1000 & exit 3'
restart-delay = 10ms
restart-limit = 1/1h
autostart = no
[late]
command = $helpers/idle
ready = fd:3
start-timeout = 100ms
restart = never
autostart = no
END
start_daemon
ctl wait --for ready

ctl events --json >"$dir/events" 2>"$dir/events.err" &
watcher=$!
cleanup_fn end_process "$watcher"
ctl events --json web >"$dir/web" &
cleanup_fn end_process $!
ctl events --json --no-wait >"$dir/past"
happened() { # FILE NODE FROM TO
	jq -c "select(.node == \"$2\" and .from == \"$3\" and .to == \"$4\")" "$1" | grep -q .
}
ok "earlier events are remembered" happened "$dir/past" web/app down starting
ok "with later ones after them" happened "$dir/past" web/app starting up
hears() { ctl restart db >/dev/null && happened "$dir/events" db running shutting_down; }
ok "a stop is sent" wait_for 10 hears
ok "of the service, too" wait_for 5 happened "$dir/events" db waiting stopping
ok "and its end" wait_for 5 happened "$dir/events" db stopping down
like "with its reason" "$(jq -r 'select(.to == "down") | .reason' "$dir/events" | head -n 1)" \
	'killed by SIGTERM'
like "with the client that asked" "$(jq -r 'select(.to == "shutting_down") | .cause' "$dir/events" | head -n 1)" \
	'asked by pid [0-9]+, uid 0'
ok "and the next generation" wait_for 5 happened "$dir/events" db complete running
is "numbers have no gap" "$(jq .number "$dir/events" | awk 'NR > 1 && $1 != last + 1 { print "gap" } { last = $1 }')" ""
is "a client that asks for one node gets events of no other" "$(jq -r .node "$dir/web" | grep -v ^web)" ""
head_of_events() {
	timeout 20 "$swansongctl" events web/app --last 1 "$@" | head -n 1 >/dev/null
	[ "${PIPESTATUS[0]}" = 141 ] # the status of SIGPIPE
}
ok "a client ends with its reader, before the next event" head_of_events
ok "also with JSON" head_of_events --json
is "the last two are two" "$(ctl events --json --no-wait --last 2 | wc -l)" 2
like "for people there is a line each" "$(ctl events --no-wait --last 2 | head -n 1)" \
	'^[0-9:]+\.[0-9]+ db: starting -> up \(ready\)'

# An event is printed as a sentence, with its cause.
story() { # NODE: the states of its service, a line each
	ctl events --json --no-wait "$1" |
		jq -r 'select(.kind == "service") | "\(.from) \(.to): \(.reason)"'
}
ctl start full >/dev/null && ctl stop full >/dev/null
is "each change of a service has its reason" "$(story full)" \
	"down preparing: may start
preparing starting: start-command has ended
starting readying: ready
readying up: post-start has ended
up draining: stopped
draining waiting: drain-delay is over
waiting asking: no dependent needs the service
asking stopping: stop-command has ended
stopping closing: killed by SIGTERM
closing down: killed by SIGTERM"
is "and its cause" "$(ctl events --json --no-wait full | jq -r '.cause // "nobody"' |
	sed 's/ [0-9,]* *uid .*//' | sort -u)" "asked by pid
nobody"
ctl start crash --no-wait >/dev/null
ok "a crash is followed by others" wait_for 10 has_state crash failed
like "with its exit status" "$(story crash | paste -sd ' ')" \
	'up cleaning: exited with status 3 cleaning backoff: .*backoff starting: restart-delay is over'
ctl start late --no-wait >/dev/null
ok "a service that is late has failed" wait_for 10 has_state late failed
like "with its timeout" "$(story late)" 'starting cleaning: was not ready within its start-timeout'

# A sleeping reader holds up nothing, and learns how many events it has lost.
kill -STOP "$watcher"
for i in {1..200}; do ctl restart -q --no-wait db || break; done
is "a client that does not read holds up nothing" "$i" 200
ctl wait -q --for ready db
last=$(ctl events --json --no-wait --last 1 | jq .number)
kill -CONT "$watcher"
caught_up() { [ "$(tail -n 1 "$dir/events" | jq .number)" -ge "$last" ]; }
ok "it catches up" wait_for 10 caught_up
end_process "$watcher"

ok "a service is asked to reload" ctl reload web/app
ok "by SIGHUP" wait_for 5 says "$dir/app.log" 'got HUP'
ok "a signal is sent" ctl signal USR1 web/app
ok "and arrives" wait_for 5 says "$dir/app.log" 'got USR1'
is "a group gets none" "$(ctl signal USR1 web 2>&1)" "swansongctl: web: is a group, not a service"
ok "a signal to all reaches all" ctl signal --scope all KILL db
ok "and is the end of it" wait_for 5 says "$log" 'db: killed by SIGKILL'
is "the log is found" "$(ctl logs -n 1 web/app)" "got USR1"
is "names are listed" "$(ctl list | tr '\n' ' ')" "/ web web/app db full crash late "

if is_root; then
	chmod 666 "$socket"
	as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$(program swansongctl)" "$@"; }
	ok "any user may read events" as_nobody events --no-wait
	as_nobody signal KILL web/app 2>"$dir/refused"
	is "but send nothing" "$?" 5
	as_nobody reload --dry-run 2>"$dir/refused"
	is "nor reload" "$?" 5
	cat >"$dir/pester.py" <<-'END'
	import socket, sys
	call = b'{"method":"io.swansong.Shutdown","parameters":{"node":"db","reason":"me"}}\0'
	pests = [socket.socket(socket.AF_UNIX) for _ in range(16)]
	for s in pests:
	    s.connect(sys.argv[1])
	while True:
	    for s in pests:
	        s.sendall(call)
	    for s in pests:
	        while not s.recv(65536).endswith(b"\0"):
	            pass
	    print("refused", flush=True)
	END
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		/usr/bin/python3 -c "$(cat "$dir/pester.py")" "$socket" >"$dir/pester" &
	pester=$!
	cleanup_fn end_process "$pester"
	ok "the requests of a client are limited" wait_for 10 says "$dir/pester" refused
	for _ in {1..40}; do ctl restart -q db || break; done
	end_process "$pester"
	is "and is the cause of nothing" \
		"$(ctl events --json --no-wait | jq -r .cause | grep -c 'uid 65534')" 0
else
	skip "any user may read events" "machine: needs root"
fi

# A client that asks for changes gets those without an event, too: guards, and settings.  An event is the report of
# a change that it comes with, so no service is about to start.
ctl wait -q --for ready db
cat >"$dir/changes.py" <<-'END'
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
call = {"method": "io.swansong.Events", "parameters": {"changes": True}, "more": True}
s.sendall(json.dumps(call).encode() + b"\0")
received = b""
while True:
    received += s.recv(65536) or sys.exit()
    *replies, received = received.split(b"\0")
    for reply in replies:
        print(reply.decode(), flush=True)
END
/usr/bin/python3 "$dir/changes.py" "$socket" >"$dir/changes" &
cleanup_fn end_process $!
replies() { jq -c "select($1)" "$dir/changes" | grep -q .; }
n_changes() { grep -Ec '"changed": ?true' "$dir/changes"; } # also while a line is being written
has_more_changes() { [ "$(n_changes)" -gt "$1" ]; }
ok "a stream of changes begins without one" wait_for 5 replies '.parameters.changed | not'
ctl guard web/app true
ok "a guard is a change" wait_for 5 has_more_changes 0
before=$(n_changes)
ctl reload
ok "and a reload" wait_for 5 has_more_changes "$before"
ok "without an event" not replies '.parameters.changed and .parameters.events != []'

# A reload stops a service and starts another, each for its own reason.
cause() { # NODE FROM TO
	ctl events --json --no-wait |
		jq -r "select(.node == \"$1\" and .from == \"$2\" and .to == \"$3\") | .cause" | tail -n 1
}
sed -i 's/^\[db\]/[base]/' "$ini"
ok "a service gets another command" ctl reload
ok "and is up" wait_for 5 has_state base up
is "the old one is stopped by its section" "$(cause db running shutting_down)" "section removed"
like "the new service is started by the client of the reload" "$(cause base down starting)" '^asked by pid [0-9]+, uid'
sed -i 's/^\[base\]/[db]/' "$ini"
kill -HUP "$daemon"
ok "and back again" wait_for 5 has_state db up
is "by the signal" "$(cause db down starting)" SIGHUP

# A client that follows to the end gets every event, and the end of the stream.
ctl events --json --last 1 >"$dir/to-the-end" 2>&1 &
follower=$!
ok "the end is followed" wait_for 10 test -s "$dir/to-the-end"
stop_daemon
is "the end is graceful" "$status" 0
is "also to a client that has followed" "$(wait "$follower"; echo $?)" 0
is "the last event is that of the root" \
	"$(tail -n 1 "$dir/to-the-end" | jq -r '.node + .from + " " + .to')" "shutting_down complete"
finish
