#!/bin/bash
# Many clients, slow ones and hostile ones: the others are served, and the daemon does not notice.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"
requires_package /usr/bin/python3 python3
clients() { /usr/bin/python3 "$top_srcdir/tests/helpers/exporter-clients.py" 9633 "$@"; } # KIND [NUMBER]

config <<END
[web]
command = $helpers/idle
[db]
command = $helpers/idle
END
start_daemon
ctl wait --for ready
start_exporter --host status.example

status_for() { status_of /api/tree -H "$1: $2" "${@:3}"; } # HEADER VALUE [OPTION...]
is "hosts that are addresses are served" "$(for host in 127.0.0.1 10.1.2.3:80 '[::1]:9633' localhost:1
	do status_for Host "$host"; done)" 200200200200
is "and a name that is allowed" "$(status_for Host Status.Example:443)" 200
is "any other name is refused" "$(for host in evil.example 127.0.0.1.evil.example localhost.evil '[::1' ''
	do status_for Host "$host"; done)" 421421421421421
is "so is a page of another site" "$(status_for Origin http://evil.example)$(status_for Origin null)" 403403
is "but not one of this site" "$(status_for Origin https://status.example -H 'Host: status.example')" 200
is "a page of another site loads no stream as an image" \
	"$(status_of /events -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: no-cors')" 403
is "but may have a link" "$(status_for Sec-Fetch-Site cross-site -H 'Sec-Fetch-Mode: navigate')" 200

clients rude >"$dir/rude"
is "an invalid request gets an error" "$(grep -cv '^HTTP/1.1 4\|^$\|Error$' "$dir/rude")" 0
is "and the others are served" "$(status_of /)" 200

clients slow >"$dir/slow" &
cleanup_fn end_process $!
clients stuck >"$dir/stuck" &
cleanup_fn end_process $!

clients crowd 1000 >"$dir/crowd" &
cleanup_fn end_process $!
ok "there are 1000 clients" wait_for 30 says "$dir/crowd" open
is "the daemon has the two connections of the exporter" "$(has_connections 2 && echo two)" two
ctl restart db
ok "each that reads hears of a change" wait_for 30 says "$dir/crowd" 'heard 800'
is "the others are served meanwhile" "$(status_of /metrics)" 200
is "the daemon still has two" "$(has_connections 2 && echo two)" two
memory=$(awk '/^VmRSS/ { print $2 }' "/proc/$exporter/status")
ok "a client costs less than 40 KB" test "$memory" -lt 50000

ok "a request that is sent too slowly is ended" wait_for 40 says "$dir/slow" ended
ok "so is a reply that is not read" wait_for 40 says "$dir/stuck" ended
ok "but no stream of events" not gone "$!"
kill -STOP "$daemon"
is "a daemon that hangs does not matter" "$(status_of /metrics) $(status_of /api/tree)" "200 200"
kill -CONT "$daemon"
end_process "$exporter"

descriptors_max=256 start_exporter
clients fill 192 >"$dir/fill" &
cleanup_fn end_process $!
ok "with few descriptors, some streams are refused" wait_for 10 says "$dir/fill" '^48 refused'
is "and a probe has a connection" "$(status_of /healthz)" 200
end_process "$exporter"
stop_daemon
is "the daemon ends well" "$status" 0
finish
