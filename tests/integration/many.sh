#!/bin/bash
# A thousand services: all come up, all go down, and a client that reads late misses no event.
. "${0%/*}/lib.sh"

for ((i = 0; i < 1000; i++)); do
	printf '[group%d/service%d]\ncommand = %s/idle\n' $((i % 10)) "$i" "$helpers"
done | config
began=$(now)
start_daemon
ok "all become ready" ctl --timeout 60s wait --for ready
within "without delay" $(($(now) - began)) 0 30000
is "all are up" "$(ctl status --json | jq '[.nodes[] | select(.service.state == "up")] | length')" 1000
is "with a process each" "$(pgrep -c -x idle)" 1000

ctl events --json --last 1 >"$dir/events" &
watcher=$!
cleanup_fn end_process "$watcher"
ok "a client gets events" wait_for 10 says "$dir/events" '"to":"up"'
kill -STOP "$watcher"
ok "half of them stop while it does not read" ctl stop group0 group1 group2 group3 group4
kill -CONT "$watcher"

began=$(now)
stop_daemon 20
is "they end gracefully" "$status" 0
within "and together" $(($(now) - began)) 0 20000
ok "the client sees the end" wait_for 20 gone "$watcher"
is "no event is missing" "$(jq -s '[.[].number] == [range(.[0].number; .[-1].number + 1)]' "$dir/events")" true
is "up to the last one" "$(tail -n 1 "$dir/events" | jq -r '.node + .to')" complete
is "six for each service, with its outage, two for each node above" "$(tail -n +2 "$dir/events" | wc -l)" $((6 * 1000 + 2 * 11))
ok "nothing is left" wait_for 10 nobody_else
finish
