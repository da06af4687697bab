#!/bin/bash
# The exporter shows both runs of a hand-over.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"

echo ready >"$dir/word"
config <<END
[web]
[web/app]
command = $helpers/slow-server serve $dir/word
listen = tcp:127.0.0.1:8080
ready = notify
handover = yes
drain-timeout = 1min
END
start_daemon
ctl wait --for ready --timeout 10s
start_exporter
paths() { got /api/tree '[.nodes[].path] | join(" ")'; }
has_paths() { [ "$(paths)" = "$1" ]; } # PATHS
since_removed='del(.. | .since_usec?, .aside?)'
is_that_of_swansongctl() {
	[ "$(got /api/tree ".nodes | $since_removed" | jq -cS .)" = \
		"$(ctl status --json | jq -cS ".nodes | $since_removed")" ]
}
"$swansongctl" guard web/app -- sleep 1000 &
holder=$!
cleanup_fn end_process "$holder"
wait_for 10 has_leases web/app 1 || die "a run has a guard"

ok "a restart" ctl restart web/app
ok "the copy of the tree has both runs" wait_for 5 has_paths ' web web/app web/app~1'
is "the earlier one is stopping, or has ended" "$(got /api/tree '.nodes[] | select(.path == "web/app~1").state')" shutting_down
like "the present one names it" "$(got /api/tree '.nodes[] | select(.path == "web/app").service.aside[0]')" \
	'^generation 1 is finishing: [12] guards?, for '
like "and so does the page" "$(get /)" 'web/app~1</th>'
is "the service is ready" "$(got /api/tree '.nodes[] | select(.path == "web").ready')" true
ok "all is as swansongctl shows it" wait_for 5 is_that_of_swansongctl
like "and the metrics have both" "$(get /metrics)" 'node="web/app~1"'
end_process "$holder"
ok "the earlier one goes with its last guard" wait_for 5 has_paths ' web web/app'
ok "all is as swansongctl shows it" wait_for 5 is_that_of_swansongctl

echo exit >"$dir/word"
"$swansongctl" restart web/app >"$dir/out" 2>&1
is "a hand-over fails" "$?" 1
ok "and leaves nothing" wait_for 5 has_paths ' web web/app'
ok "all is as swansongctl shows it" wait_for 5 is_that_of_swansongctl
finish
