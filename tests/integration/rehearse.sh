#!/bin/bash
# A rehearsal of a shutdown: faults that are planted in ten services are named with the key to change, a healthy service
# loses no request meanwhile, and a shutdown in the middle of it is a shutdown.
. "${0%/*}/lib.sh"
requires_package python3 python3

cat >"$dir/server.py" <<'END'
"""server.py PORT [SICK]: answers 200; with SICK, after SIGTERM 503 for half a second."""
import http.server, os, signal, sys, threading, time
status = 200
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
def stop(*args):
    global status
    status = 503
    if len(sys.argv) > 2:
        threading.Timer(0.5, os._exit, [0]).start()
    else:
        os._exit(0)
signal.signal(signal.SIGTERM, stop)
server.serve_forever()
END
cat >"$dir/load.py" <<'END'
"""load.py PORT: requests, each on a connection of its own, until SIGTERM; then prints the counts."""
import http.client, signal, sys
counts, stops = {"answered": 0, "failed": 0}, []
signal.signal(signal.SIGTERM, lambda *args: stops.append(True))
while not stops:
    try:
        link = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=30)
        link.request("GET", "/", headers={"Connection": "close"})
        counts["answered" if link.getresponse().status == 200 else "failed"] += 1
    except OSError as error:
        print(error, flush=True)
        counts["failed"] += 1
    link.close()
print(counts["answered"], counts["failed"])
END
# Ends when the stop begins, and not at its signal.
cat >"$dir/early" <<END
#!/bin/sh
exec "$(realpath "$swansongctl")" wait --for stopping early
END
# The second run fails.
cat >"$dir/once" <<END
#!/bin/sh
[ ! -e "$dir/once.ran" ] || exit 3
touch "$dir/once.ran"
exec "$helpers/idle"
END
# Its child ignores the signal.
cat >"$dir/leaver" <<END
#!/bin/sh
(trap '' TERM; exec "$helpers/idle") &
trap 'exit 0' TERM
while :; do wait; done
END
cat >"$dir/slow" <<END
#!/bin/sh
trap '' HUP; trap 'sleep 30' TERM
while :; do sleep 1 & wait; done
END
cat >"$dir/gentle" <<END
#!/bin/sh
trap 'sleep 0.5; exit 0' TERM
while :; do sleep 1 & wait; done
END
chmod +x "$dir"/early "$dir"/once "$dir"/leaver "$dir"/slow "$dir"/gentle

server=$top_builddir/contrib/examples/http-server
faults() {
	cat <<-END
	[swansong]
	report = $dir/report
	[well]
	command = $server
	ready = notify
	listen = tcp:127.0.0.1:8080
	fd-store-max = 250
	[beside]
	command = $server
	ready = notify
	listen = tcp:127.0.0.1:8081
	handover = yes
	[deaf]
	command = $helpers/stubborn $dir/deaf
	stop-timeout = 1s
	[slow]
	command = $dir/slow
	stop-timeout = 1s
	[leaver]
	command = $dir/leaver
	stop-timeout = 2s
	[once]
	command = $dir/once
	restart = never
	[port]
	command = python3 $dir/server.py 8101
	ready = http://127.0.0.1:8101/
	[sick]
	command = python3 $dir/server.py 8102 sick
	ready = http://127.0.0.1:8102/
	[early]
	command = $dir/early
	restart = always
	[client]
	command = $dir/gentle
	requires = early
	[command]
	command = $helpers/idle
	stop-command = $dir/nowhere/stop
	[tight]
	shutdown-timeout = 2s
	[tight/store]
	command = $helpers/idle
	stop-timeout = 20s
	[stranger]
	command = $helpers/idle
	health = tcp:127.0.0.1:8103
	END
}

faults >"$ini"
python3 "$dir/server.py" 8103 &
cleanup_fn end_process $!
start_daemon
ctl wait --for ready --timeout 30s

# --- Without touching anything ---

before=$(ctl status --json | jq -c '[.nodes[] | [.path, .service.pid]]')
ctl rehearse --dry >"$dir/dry" && dry=0 || dry=$?
comment <"$dir/dry"
is "a dry run finds something" "$dry" 1
is "and restarts nothing" "$(ctl status --json | jq -c '[.nodes[] | [.path, .service.pid]]')" "$before"
ok "it names a service that ignores its signal" says "$dir/dry" '^deaf: ignores SIGTERM; change: stop-signal$'
ok "and a stop-command that cannot be executed" says "$dir/dry" '^command: its stop-command .*; change: stop-command$'
ok "and a budget that is too short" says "$dir/dry" '^tight/store: has less time .*; change: shutdown-timeout$'
if is_root; then
	ok "and a port that another process holds" says "$dir/dry" '^stranger: port 8103 is held by .*; change: health$'
else
	skip "and a port that another process holds" "machine: needs root"
fi
is "but nothing of a healthy one" "$(grep -c '^well:.*change' "$dir/dry")" 0

# --- Under load ---

"$helpers/http-load" 8080 20 200 >"$dir/load" &
asking=$!
cleanup_fn end_process "$asking"
wait_for 30 grep -q ^answered "$dir/load" || die "there are answers"
python3 "$dir/load.py" 8081 >"$dir/load.beside" &
beside=$!
cleanup_fn end_process "$beside"
ctl rehearse --settle 200ms >"$dir/out" && status=0 || status=$?
comment <"$dir/out"
is "a rehearsal that finds something fails" "$status" 1
while read -r node what key; do
	ok "$node: ${what//_/ }" says "$dir/out" "^$node: ${what//_/ }.*; change: $key\$"
done <<-END
	deaf ignores_SIGTERM stop-signal
	slow needs_longer_than_its_budget stop-timeout
	leaver leaves_processes signal-scope
	once does_not_come_back command
	port loses_its_port listen
	sick answers_5xx_after_the_signal drain-delay
	early ends_before_its_dependents command
	command its_stop-command stop-command
	tight/store has_less_time shutdown-timeout
END
is "nothing is found of the healthy ones" "$(grep -Ec '^(well|beside):.*change' "$dir/out")" 0
ok "its time is measured" says "$dir/out" '^well: took [0-9.]+m?s, planned '
kill -TERM "$asking"
wait_for 60 gone "$asking" || die "the load ends"
counts=" $(tail -n 1 "$dir/load") "
echo "$counts" | comment
is "and it has lost no request" "$(grep -Eo ' (refused|reset|closed|cut|late|other)=[0-9]+' <<<"$counts" | grep -vc '=0$')" 0

kill -TERM "$beside"
wait_for 60 gone "$beside" || die "the other load ends"
like "nor by a hand-over" "$(tail -n 1 "$dir/load.beside")" '^[1-9][0-9]+ 0$'
ok "which it was" says "$log" 'beside: hand-over: rollout'

# --- A part of the tree, as JSON; a lost client; a shutdown in the middle ---

is "of a node alone" "$(ctl rehearse --json well | jq -c '[.services[] | .node]')" '["well",""]'
ctl rehearse --settle 2s well >/dev/null 2>&1 &
client=$!
cleanup_fn end_process "$client"
rollout() { ctl status --json | jq -r .rollout.state; }
is_state() { [ "$(rollout)" = "$1" ]; }
wait_for 10 is_state running || die "it runs"
kill -KILL "$client"
ok "it goes on without its client" wait_for 20 is_state "done"
ctl rehearse --settle 2s well >"$dir/out" 2>&1 &
client=$!
cleanup_fn end_process "$client"
wait_for 10 is_state running || die "it runs"
kill -SEGV "$daemon"
wait_for 30 gone "$client" || die "the client ends"
ok "and over a fault of the daemon" is_state "done"
ok "with its report" says "$dir/out" '^well: .*planned'

"$swansongctl" rehearse >/dev/null 2>"$dir/errors" &
client=$!
cleanup_fn end_process "$client"
wait_for 10 is_state running || die "it runs"
ctl shutdown --no-wait >/dev/null
wait_for 10 gone "$client" || die "the client ends"
ok "a shutdown ends the rehearsal" says "$dir/errors" 'rehearsal failed: the tree is shutting down|the daemon has ended'
wait_for 30 gone "$daemon" || die "the daemon ends"
is "and is one itself" "$(jq -r '.nodes[0].path' "$dir/report")" ""

finish
