#!/bin/bash
# How a node may be named: by its path, and by the last part of that where no other node has it.
. "${0%/*}/lib.sh"

{
	service web/nginx
	service web/api/worker
	service db/worker
	service db/redis
	service solo
} | config
start_daemon
ok "all is ready" ctl wait / --for ready --timeout 60s

is "the last part is enough" "$(ctl status nginx --json | jq -r '.nodes[0].path')" web/nginx
is "so are the last two" "$(ctl status api/worker --json | jq -r '.nodes[0].path')" web/api/worker
ok "a command takes it" ctl restart redis --timeout 60s
is "for the node with the short name" "$(field db/redis .generation) $(field web/nginx .generation)" "2 1"
ok "also one that waits" ctl wait nginx --for ready --timeout 60s

no_node() { # NAME MESSAGE
	ctl status "$1" >"$dir/out" 2>&1
	is "$1 is no node: $2" "$? $(cat "$dir/out")" "4 swansongctl: $1: no such node$2"
}
no_node worker "; did you mean web/api/worker, or db/worker?"
no_node ngnix "; did you mean web/nginx?"
no_node web/ngnix "; did you mean web/nginx?"
no_node sollo "; did you mean solo?"
no_node nothing-like-it ""
no_node nowhere/near ""
is "JSON has the similar paths" "$(ctl status ngnix --json 2>/dev/null | jq -c .parameters.similar)" \
	'["web/nginx"]'

ctl stop / >"$dir/out" 2>&1
is "the root is not stopped by mistake" "$? $(cat "$dir/out")" \
	"1 swansongctl: root: the root cannot be stopped: use swansongctl shutdown"
is "nothing has happened" "$(state solo)" up
stop_daemon
finish
