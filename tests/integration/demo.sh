#!/bin/bash
# The demo, as `./bootstrap demo` runs it without a terminal: it ends by itself, and successfully.
. "${0%/*}/lib.sh"

began=$(now)
launch sh "$top_srcdir/conf/demo.sh"
await_daemon 30
is "it ends well" "$status" 0
within "soon" $(($(now) - began)) 0 15000
ok "it has shown the tree" says "$log" 'app .*up'
ok "a service that hangs is killed, and the shutdown is reported as forced" says "$log" '^jobs/hung: complete in .*, forced'
ok "a service that fails again and again is given up, as its status shows" in_order \
	'jobs/flaky: exited with status 3; again in 200ms' 'jobs/flaky: .*; failed: restart-limit is reached' \
	'^ *state: *failed'
ok "the holder of a guard is named" says "$log" 'web/app .*lease .*order 42'
ok "a busy service lives longer than its stop-timeout, and finishes" in_order \
	'swansongd: root: shutting down: .*maintenance' 'swansongd: web/app: busy: 1 guard' \
	'app: order 42 is done' 'app: closed' 'store: closed' 'swansongd: root: complete'
ok "and blame names it afterwards" says "$log" '^[0-9.]+m?s  *web/app .*order 42'
ok "nothing is left" wait_for 5 nobody_else
finish
