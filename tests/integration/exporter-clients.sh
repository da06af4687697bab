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
is "so is a port that is none" "$(for host in 127.0.0.1:9evil localhost:65536 '[::1]:80]'
	do status_for Host "$host"; done)" 421421421
status_of_raw() { (printf '%b\r\n' "$1" >&3 && head -c 12 <&3 | tail -c 3) 3<>/dev/tcp/127.0.0.1/9633; } # HEAD
is "HTTP/1.1 needs the header Host, once" "$(status_of_raw 'GET / HTTP/1.1\r\n') $(
	status_of_raw 'GET / HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n')" "400 400"
is "HTTP/1.0 needs none" "$(status_of_raw 'GET / HTTP/1.0\r\n')" 200
is "so is a page of another site" "$(status_for Origin http://evil.example)$(status_for Origin null)" 403403
is "but not one of this site" "$(status_for Origin https://status.example -H 'Host: status.example')" 200
is "a page of another site loads no stream as an image" \
	"$(status_of /events -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: no-cors')" 403
is "but may have a link" "$(status_for Sec-Fetch-Site cross-site -H 'Sec-Fetch-Mode: navigate')" 200

clients rude >"$dir/rude"
is "an invalid request gets an error" "$(grep -cv '^HTTP/1.1 4\|^$\|Error$' "$dir/rude")" 0
is "and the others are served" "$(status_of /)" 200

before=$(memory_of "$exporter")
clients slow >"$dir/slow" &
cleanup_fn end_process $!
clients stuck >"$dir/stuck" &
cleanup_fn end_process $!

clients crowd 1000 >"$dir/crowd" &
cleanup_fn end_process $!
ok "there are 1000 clients" wait_for 30 says "$dir/crowd" open
ok "the daemon has the two connections of the exporter" wait_for 10 has_connections 2
ctl restart db
ok "each that reads hears of a change" wait_for 30 says "$dir/crowd" 'heard 800'
is "the others are served meanwhile" "$(status_of /metrics)" 200
ok "the daemon still has two" wait_for 10 has_connections 2
ok "a client costs less than 50 KB" test $((($(memory_of "$exporter") - before) / 1000)) -lt 50

ok "a request that is sent too slowly is ended" wait_for 40 says "$dir/slow" ended
ok "so is a reply that is not read" wait_for 40 says "$dir/stuck" ended
ok "but no stream of events" not gone "$!"
kill -STOP "$daemon"
is "a daemon that hangs does not matter" "$(status_of /metrics) $(status_of /api/tree)" "200 200"
kill -CONT "$daemon"
end_process "$exporter"

descriptors_max=256 start_exporter
clients fill 192 "$exporter" >"$dir/fill" &
cleanup_fn end_process $!
ok "with few descriptors, some streams are refused" wait_for 10 says "$dir/fill" '^48 refused'
is "and a probe has a connection" "$(status_of /healthz)" 200
end_process "$exporter"

# Half-open requests of another address, twice as many as there are places; each that ends is replaced.
descriptors_max=256 start_exporter
/usr/bin/python3 "$top_srcdir/tests/helpers/exporter-clients.py" 9633 heads 400 127.0.0.2 >"$dir/heads" &
attack=$!
cleanup_fn end_process $attack
wait_for 10 says "$dir/heads" open || die "the attack has begun"
replaced() { wc -l <"$dir/heads"; }
has_replaced() { [ "$(replaced)" -gt "$1" ]; } # NUMBER
# Half a request, until there is none in the attack that is older; a busy machine may need more than the 5 seconds
# that there are for a head.
is_spared() {
	(
		exec 7<>/dev/tcp/127.0.0.1/9633
		printf 'GET /healthz HTTP/1.1\r\n' >&7
		wait_for 4 has_replaced $(($(replaced) + 400))
		printf 'Host: localhost\r\n\r\n' >&7
		[ "$(timeout 60 head -c 12 <&7)" = "HTTP/1.1 200" ]
	) 2>/dev/null
}
ok "half-open requests of one address end none of another" wait_for 20 is_spared
is "and keep no probe away" "$(for _ in {1..20}; do status_of /healthz; done | sort -u)" \
	"$(printf '200%.0s' {1..20})"
serves_both() { [ "$(status_of /) $(status_of /events --max-time 2)" = "200 200" ]; }
ok "nor a page, nor a stream" wait_for 10 serves_both
end_process $attack
began=$SECONDS
clients slow >"$dir/slow"
ok "the head of a request has to come within 5 seconds, and not the 15 of a visit" test $((SECONDS - began)) -lt 14
end_process "$exporter"

# All places are taken by what does not end for others: streams, and requests that wait for a daemon that hangs.
descriptors_max=512 start_exporter --logs --max-logs 8
clients fill 400 "$exporter" >"$dir/full" &
cleanup_fn end_process $!
wait_for 10 says "$dir/full" refused || die "there are as many streams as may be"
kill -STOP "$daemon"
clients logs 512 >"$dir/logs" &
cleanup_fn end_process $!
wait_for 10 says "$dir/logs" sent || die "the requests are sent"
# The places of the requests are free for a moment when the exporter has waited for 10 seconds.
is_full() { [ "$(status_of / --max-time 10)" = 503 ]; }
ok "when all places are taken, pages are refused" wait_for 60 is_full
# They wait for the daemon as long as the exporter does.  One that is slow to send its request may be replaced.
is_probed() { [ "$(status_of /metrics --max-time 60)" = 200 ]; }
ok "but not probes" wait_for 60 is_probed
kill -CONT "$daemon"
end_process "$exporter"

stop_daemon
is "the daemon ends well" "$status" 0
finish
