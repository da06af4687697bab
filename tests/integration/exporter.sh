#!/bin/bash
# The exporter shows the tree as it is, and each change as it happens.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"

config <<END
[web]
[web/api]
command = $helpers/idle
environment = PASSWORD=secret
stop-timeout = 7s
[db]
command = $helpers/idle
autostart = no
after = web
END
start_daemon
ctl wait --for ready --timeout 10s
start_exporter
since_removed='del(.. | .since_usec?)'
right_of() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$exporter/status"; } # NAME
is "it keeps no capability, also of root" "$(for set in CapPrm CapEff CapAmb; do right_of $set; done | sort -u)" 0000000000000000
is "and can gain none" "$(right_of NoNewPrivs)" 1
is "the nodes are those of swansongctl" "$(got /api/tree ".nodes | $since_removed" | jq -cS .)" \
	"$(ctl status --json | jq -cS ".nodes | $since_removed")"
is "a node has its guards" "$(got /api/node/web/api '.guards[].kind')" process
is "and its events" "$(got /api/node/web/api '.events[-1].to')" up
is "and its dependencies, in both directions" \
	"$(for node in db web; do got /api/node/$node '.dependencies[] | .from + " " + .kind + " " + .to'; done)" \
	"db after web
db after web"
ok "and its settings, once the daemon has been asked" wait_for 5 gets /api/node/web/api \
	'.settings[] | select(.key == "stop-timeout") | .value + " " + .origin' "7s swansong.ini:5"
is "but no default, and no secret" "$(got /api/node/web/api '.settings[] | .key + " " + (.value // "hidden")' |
	sort | tr '\n' ,)" "command $helpers/idle,environment hidden,stop-timeout 7s,"
if command -v strace >/dev/null; then
	strace -s 200 -o "$dir/shows" -p "$exporter" 2>/dev/null &
	strace=$!
	is_traced() { get /healthz >/dev/null && [ -s "$dir/shows" ]; }
	wait_for 10 is_traced
	for _ in 1 2 3 4 5; do get /api/node/; get /api/node/web/api; done >/dev/null
	kill "$strace"
	wait "$strace"
	is "the daemon is asked once for each node" "$(grep -c 'swansong.Show' "$dir/shows")" 1
else
	skip "the daemon is asked once for each node" "package strace"
fi
sed -i 's/^stop-timeout = 7s/stop-timeout = 8s/' "$ini"
ctl reload
ok "and again after a reload" wait_for 5 gets /api/node/web/api \
	'.settings[] | select(.key == "stop-timeout").value' 8s
is "there are the dependencies of all nodes" \
	"$(got /api/dependencies '.dependencies[] | .from + " " + .kind + " " + .to')" "db after web"
is "the root is the node without a name" "$(got /api/node/ .node.path)" ""
is "no node, no reply" "$(status_of /api/node/nothing)" 404
is "no page, no reply" "$(status_of /nothing)" 404
is "the plan is that of swansongctl" "$(got /api/shutdown .plan.entries | jq -cS .)" \
	"$(ctl plan --json | jq -cS .entries)"
is "only GET and HEAD are allowed" "$(status_of / -X POST -d x) $(status_of / -I)" "405 200"

like "the page has the tree without JavaScript" "$(get /)" 'web/api</th><td>up'
is "and the page loads nothing else" "$(get / | grep -c 'src="http\|href="http')" 0
like "its policy is strict" "$(get / -I)" "Content-Security-Policy: default-src 'none'; script-src 'self'"
is "its files are there" "$(status_of /app.js) $(status_of /style.css)" "200 200"

if command -v strace >/dev/null; then
	# The last connections may end during the first look.
	sleeps() { timeout 2 strace -f -o "$dir/calls" -p "$exporter" 2>/dev/null; not grep -q '= ' "$dir/calls"; }
	ok "while nothing happens it does not wake up" wait_for 20 sleeps
else
	skip "while nothing happens it does not wake up" "package strace"
fi

listen_to_events "$dir/stream"
is "a stream begins with the tree" "$(events_of "$dir/stream" tree | jq '.nodes | length')" 4
ctl start db
ok "a start is shown" wait_for 5 has_event "$dir/stream" event '.node == "db" and .to == "up"'
ok "and the node as it is then" wait_for 5 has_event "$dir/stream" node '.path == "db" and .service.pid'
is "the tree has it as well" "$(node_state db)" up
"$swansongctl" guard db --why "nightly backup" -- sh -c "echo >$dir/held; exec sleep 1000" &
holder=$!
cleanup_fn end_process $holder
wait_for 5 test -e "$dir/held"
ok "a guard is shown, though no state has changed" wait_for 5 has_event "$dir/stream" guard \
	'.guards | any(.why == "nightly backup")'
ctl shutdown --no-wait
ok "a shutdown is shown" wait_for 5 has_event "$dir/stream" shutdown '.stopping'
ok "with the guard that holds it up" wait_for 5 has_event "$dir/stream" shutdown \
	'.guards | any(.why == "nightly backup")'
ok "and the service that waits for it" wait_for 5 gets /api/shutdown .left 1
kill "$holder"
await_daemon 10
ok "the end is shown" wait_for 5 has_event "$dir/stream" summary '.up | not'
is "the last state stays" "$(got /api/tree .up) $(got /api/shutdown .node.state)" "false complete"
is "so do the last events" "$(got /api/shutdown '[.events[] | select(.node == "db")][-1].to')" complete

start_daemon
ok "a new daemon is found" wait_for 5 gets /api/tree .up true
ok "and shown" wait_for 5 has_event "$dir/stream" summary .up
starts() { events_of "$dir/stream" event | jq -r 'select(.node == "web/api" and .to == "up").to' | wc -l; }
started() { [ "$(starts)" = 1 ]; }
ok "with what a client has missed meanwhile, once" wait_for 5 started
is "and the last events are those of the new one" \
	"$(got /api/node/web/api '[.events[] | select(.to == "up")] | length')" 1
curl -sN "$url/events" >"$dir/last" &
last=$!
ok "a client listens" wait_for 5 has_event "$dir/last" summary .up
kill -TERM "$exporter"
wait "$exporter"
is "the exporter ends at SIGTERM" "$?" 0
wait "$last"
is "a stream of events has its last chunk" "$?" 0
stop_daemon

# --- Where it listens ---

status_at() { curl -s -o /dev/null -w '%{http_code}' --max-time 10 "$@" http://127.0.0.1:9633/healthz; }
start_daemon
start_exporter --listen "unix:$dir/http"
is "a socket of Unix" "$(status_at --unix-socket "$dir/http")" 200
for bad in 9633 127.0.0.1 127.0.0.1:0x50 example.org:80 unix:; do
	timeout 5 "$(program swansong-exporter)" --socket "$socket" --listen "$bad" 2>"$dir/bad"
	is "--listen $bad is refused" "$? $(grep -c 'for example 127.0.0.1:9633' "$dir/bad")" "2 1"
done
end_process "$exporter"
stop_daemon

if is_root; then
	# The example of the manual, of the section that is no group of it.
	sed -n '/^\[swansong\]/,/^\.Ed/p' "$top_srcdir/man/swansong-exporter.8" |
		sed "/^\./d; s|^command = |&$(realpath "$top_builddir")/|" >"$ini"
	chmod 755 "$dir"
	start_daemon
	ok "as a service of the tree, it is ready" ctl wait --for ready --timeout 60s
	ok "has the socket of its section, and looks as a user without rights" wait_for 5 gets /api/tree \
		'.up and any(.nodes[]; .path == "exporter" and .service.state == "up")' true
	stop_daemon
	is "and ends with it" "$status" 0
else
	skip "as a service of the tree" "machine: needs root"
fi
finish
