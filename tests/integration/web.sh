#!/bin/bash
# A request is in progress at a stop: it is answered, and the services that it needs end after that.
. "${0%/*}/lib.sh"
. "${0%/*}/web-tree.sh"
requires_web_tree

web_tree "$dir" | config
start_daemon
ok "the tree becomes ready" ctl --timeout 60s wait --for ready
like "the tree answers" "$(curl -s http://127.0.0.1:8080/)" '^visit 1$'

ask_slowly
ok "a slow request is in flight" wait_for 10 says "$log" 'slow request has begun'
began=$(now)
kill -TERM "$daemon"

ok "redis waits for its dependents" wait_for 5 has_state data/redis waiting
ok "nothing new is accepted" wait_for 5 not curl -s -o "$dir/late" http://127.0.0.1:8080/
await_daemon 30
took=$(($(now) - began))

await_answer
is "the request is answered, whole" "$answer" "200 100000"
is "swansongd exits 0" "$status" 0
within "it takes as long as the request" "$took" 1500 20000
ok "nginx, then the worker, then redis" in_order \
	'#[0-9]+: exit$' 'worker: done' 'Received SIGTERM' 'bye bye'
ok "and the log has the same order" in_order 'web/nginx: stopping -> down' \
	'web/worker: waiting -> stopping' 'web/worker: stopping -> down' \
	'data/redis: waiting -> stopping' 'data/redis: stopping -> down' 'root: complete'
ok "nothing is left" wait_for 10 nobody_else
finish
