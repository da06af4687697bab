#!/bin/bash
# Two hundred services: all come up, all go down, none is forgotten.
. "${0%/*}/lib.sh"

for ((i = 0; i < 200; i++)); do
	printf '[group%d/service%d]\ncommand = %s/idle\n' $((i % 10)) "$i" "$helpers"
done | config
began=$(now)
start_daemon
ok "all become ready" ctl --timeout 20s wait --for ready
within "without delay" $(($(now) - began)) 0 30000
is "all are up" "$(ctl status --json | jq '[.nodes[] | select(.service.state == "up")] | length')" 200
is "with a process each" "$(pgrep -c -x idle)" 200

began=$(now)
stop_daemon 20
is "they end gracefully" "$status" 0
within "and together" $(($(now) - began)) 0 20000
ok "nothing is left" wait_for 10 nobody_else
finish
