#!/bin/bash
# The output of services: its last lines, and each as it comes, from one stream of the daemon for each
# service, however many clients read it, and how slowly.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"

logger() { ps -e -o pid=,ppid=,comm= | awk -v d="$daemon" '$2 == d && $3 == "swansong-logger" { print $1; exit }'; }
say() { echo "$2" >"$dir/$1"; } # SERVICE LINE
texts() { got "/api/logs?node=$1${2:+&lines=$2}" '.lines[].text' | paste -sd ' '; } # NODE [LINES]
texts_are() { [ "$(texts "$1" "$2")" = "$3" ]; }                                   # NODE LINES TEXTS
error_of() { get "$1" | jq -r .error; }                                            # PATH
listen_to_log() { # NODE FILE
	curl -sN "$url/events?log=$1" >"$2" &
	cleanup_fn end_process $!
	wait_for 10 says "$2" '^event: guard' || die "the stream of events begins"
}
heard() { events_of "$1" log | jq -r '.text // .error' | paste -sd ' '; } # FILE
heard_is() { [ "$(heard "$1")" = "$2" ]; }                               # FILE TEXTS
begin_config() { # [LINE...]
	config <<-END
	[web/app]
	command = sh -c 'seq 1 30; echo trouble >&2; exec cat <>$dir/app'
	stdout = file:$dir/app.log
	stderr = file:$dir/app.err
	[db]
	command = sh -c 'exec cat <>$dir/db'
	log = file:$dir/db.log
	[quiet]
	command = $helpers/idle
	log = inherit
	[loud]
	command = yes 0123456789012345678901234567890123456789012345678901234567890123456789
	log = file:$dir/loud.log
	log-size = 1M
	log-keep = 1
	autostart = no
	END
	printf '%s\n' "$@" >>"$ini"
}
mkfifo "$dir/app" "$dir/db"
begin_config
start_daemon
ctl wait --for ready

# --- Without --logs ---

start_exporter
is "without --logs, none are shown" "$(status_of "/api/logs?node=db") $(error_of "/api/logs?node=db")" \
	"403 the exporter was started without --logs"
is "and the page knows it" "$(got /api/tree .features.logs)" false
listen_to_log db "$dir/none"
say db unheard
end_process "$exporter"
is "no line comes with the events" "$(heard "$dir/none")" ""

# --- The last lines ---

start_exporter --logs --max-logs 3
is "the page knows that there are logs" "$(got /api/tree .features.logs)" true
ok "the last lines of both outputs" wait_for 5 texts_are web/app 4 "28 29 30 trouble"
is "as many as without a number" "$(texts web/app | wc -w)" 20
is "a line has its output and its time" \
	"$(got "/api/logs?node=web/app&lines=1" '.lines[] | .stream + " " + (.time | sub("\\.[0-9]+"; "") | fromdate | . > 1e9 | tostring)')" \
	"stderr true"
counts_lines() { get /metrics | grep -qx "swansong_log_lines_total{node=\"web/app\"} 31"; }
ok "lines are counted, also while no state changes" wait_for 20 counts_lines
is "a group has none" "$(got "/api/logs?node=web" '.lines | length')" 0
is "nor has what is not captured" "$(got "/api/logs?node=quiet" '.lines | length')" 0
is "no such node" "$(status_of "/api/logs?node=nothing")$(status_of /api/logs)" 404404
is "no such number" "$(for n in 0 201 -1 x; do status_of "/api/logs?node=db&lines=$n"; done)" 400400400400
is "only GET" "$(status_of "/api/logs?node=db" -X POST -d x)" 405

# --- Lines that come ---

listen_to_log db "$dir/one"
listen_to_log db "$dir/two"
listen_to_log web/app "$dir/other"
listen_to_log quiet "$dir/quiet"
is "a stream begins without old lines" "$(heard "$dir/one")" ""
say db '"quoted" <script>alert(1)</script>'
ok "a line is shown as it comes" wait_for 5 heard_is "$dir/one" '"quoted" <script>alert(1)</script>'
ok "to each client" wait_for 5 heard_is "$dir/two" '"quoted" <script>alert(1)</script>'
printf 'a\0b \xff\xfe c\r\nevent: node\n' >"$dir/db"
ok "no byte of a line makes an event" wait_for 5 heard_is "$dir/one" \
	$'"quoted" <script>alert(1)</script> a b \xef\xbf\xbd\xef\xbf\xbd c\r event: node'
is "and no other client hears it" "$(heard "$dir/other")" ""
ok "the daemon has a stream for each service, besides the two" wait_for 10 has_connections 5
is "a further service is refused" "$(status_of "/api/logs?node=loud")" 503
listen_to_log loud "$dir/more"
like "with the reason in the stream, which goes on" "$(heard "$dir/more")" "as many services as --max-logs allows"

# --- The logger and the daemon are replaced ---

logger=$(logger)
kill -KILL "$logger"
is_another() { local p; p=$(logger); [ -n "$p" ] && [ "$p" != "$logger" ]; }
wait_for 10 is_another
say db after
hears_after() { heard "$dir/one" | grep -q 'c. event: node.* after$'; }
ok "lines go on after the death of the logger" wait_for 10 hears_after
is "and none comes twice" "$(heard "$dir/one" | grep -o after | wc -l)$(heard "$dir/one" | grep -o quoted | wc -l)" 11
kill -TERM "$daemon"
await_daemon 10
begin_config
start_daemon
ctl wait --for ready
reaches() { say db "new $SECONDS" && heard "$dir/one" | grep -q "new $SECONDS"; }
ok "and after a restart of the daemon" wait_for 10 reaches
like "the stream had the reason for missing lines" "$(heard "$dir/one")" "the daemon does not answer|has ended"

# --- A flood, and clients that do not read ---

end_process "$exporter"
start_exporter --logs
/usr/bin/python3 - "/events?log=loud" >"$dir/stuck" 2>/dev/null <<-'END' &
	import socket, sys, time
	clients = []
	for _ in range(50):
	    s = socket.socket()
	    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
	    s.connect(("127.0.0.1", 9633))
	    s.sendall(f"GET {sys.argv[1]} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
	    clients.append(s)
	print("open", flush=True)
	time.sleep(1000)
	END
cleanup_fn end_process $!
wait_for 10 says "$dir/stuck" open || skip "slow clients" "package python3"
listen_to_log loud "$dir/flood"
listen_to_events "$dir/calm"
ctl start loud
heard_many() { [ "$(grep -c '^event: log' "$dir/flood")" -ge "$1" ]; }
ok "a flood is shown in part" wait_for 10 heard_many 500
ok "with the number of missing bytes" wait_for 10 says "$dir/flood" 'bytes were left out'
ctl restart web/app
ok "other clients hear of changes meanwhile" wait_for 5 has_event "$dir/calm" event '.node == "web/app" and .to == "up"'
is "and no line" "$(grep -c '^event: log' "$dir/calm")" 0
is "other clients are served" "$(status_of /metrics)" 200
ok "the exporter keeps less than 30 MB" test "$(memory_of "$exporter")" -lt 30000
ctl stop loud

# --- A daemon without a logger gets one ---

end_process "$exporter"
kill -TERM "$daemon"
await_daemon 10
config <<END
[late]
command = $helpers/idle
log = inherit
[polled]
command = $helpers/idle
log = inherit
END
start_daemon
start_exporter --logs
listen_to_log late "$dir/late"
is "there is none of a service that is polled" "$(texts polled)" ""
is "there is no line of a daemon without a logger" "$(get "/api/logs?node=late" | jq '.lines | length')" 0
config <<END
[late]
command = sh -c 'exec cat <>$dir/db'
log = file:$dir/late.log
[polled]
command = sh -c 'echo early; exec $helpers/idle'
log = file:$dir/polled.log
END
ctl reload >"$dir/reload"
hears_late() { say db "late $SECONDS" && heard "$dir/late" | grep -q late; }
ok "lines come once a reload captures them" wait_for 15 hears_late
ok "so they do to a client that polls" wait_for 15 texts_are polled 1 early

# --- Without the right to read them ---

end_process "$exporter"
if is_root; then
	kill -TERM "$daemon"
	await_daemon 10
	begin_config '[swansong]' 'control-mode = 0666'
	start_daemon
	: >"$exporter_log"
	setpriv --reuid 65534 --clear-groups "$(realpath "$(program swansong-exporter)")" --socket "$socket" \
		--logs >"$exporter_log" 2>&1 </dev/null &
	exporter=$!
	cleanup_fn end_process "$exporter"
	wait_for 10 says "$exporter_log" 'nodes$'
	is "an exporter that may only look names the missing permission" \
		"$(status_of "/api/logs?node=db") $(error_of "/api/logs?node=db")" \
		"403 only root, the user of the daemon, control-group and control-run-group may change things, or read logs"
	kill -STOP "$daemon"
	is "a daemon that does not answer" "$(status_of "/api/logs?node=web/app" --max-time 60)" 502
	kill -CONT "$daemon"
	end_process "$exporter"
else
	skip "an exporter that may only look names the missing permission" "machine: needs root"
	skip "a daemon that does not answer" "machine: needs root"
fi
stop_daemon
finish
