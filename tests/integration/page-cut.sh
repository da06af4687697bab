#!/bin/bash
# A page that loses its stream of events while a shutdown goes on, and has it again after the daemon has ended, draws
# all of the shutdown; and the last that is known of one whose daemon has crashed.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"
. "${0%/*}/page-lib.sh"

start_relay() {
	/usr/bin/python3 "$top_srcdir/tests/helpers/relay.py" 9634 9633 0.3 &
	relay=$!
	cleanup_fn end_process "$relay"
	wait_for 10 curl -s --max-time 10 -o /dev/null http://127.0.0.1:9634/ || die "there is a relay"
}
connection_is() { echo "document.getElementById('connection').textContent === '$1'"; } # TEXT: an expression

config <<END
[base]
command = $helpers/idle
[top]
command = $helpers/idle
requires = base
END
start_daemon
ctl wait -q --for running
start_exporter
start_relay
url=http://127.0.0.1:9634 open_browser
page open /
"$swansongctl" guard top -- sleep 1000 &
holder=$!
cleanup_fn end_process "$holder"
page_becomes "a page is open, and has a guard" "document.querySelector('$(row top) .notes').textContent === '⚑ 1'"
ctl shutdown --no-wait
page_becomes "a shutdown is shown" "document.querySelector('.lane[data-path=base] .bar.waiting')"

end_process "$relay"
page_becomes "a lost stream is seen" "$(connection_is 'connection lost')"
end_process "$holder"
await_daemon 20
wait_for 10 gets /api/tree .up false
start_relay
page_becomes "the page has it again" "$(connection_is 'daemon down')"
page_becomes "and the end of the shutdown" "/^Shut down root: 2 services/.test(document.querySelector('h2').textContent)"
page_becomes "with the events before the end" "document.querySelector('.lane[data-path=base] .bar.stopping')"

start_daemon
ctl wait -q --for running
page_becomes "another daemon is found" "$(connection_is live)"
"$swansongctl" guard top -- sleep 1000 &
holder=$!
cleanup_fn end_process "$holder"
wait_for 10 has_leases top 1
ctl shutdown --no-wait
page_becomes "its shutdown is shown" "document.querySelector('.lane[data-path=top]:not(.complete)')"
end_process "$daemon"
page_becomes "and that it has crashed" "/^The daemon has ended/.test(document.querySelector('h2').textContent)"
page_becomes "each lane ends" "!document.querySelector('.lane:not(.complete)')"
page console
is "the console has no error" "$reply" ""
finish
