#!/bin/bash
# The demo, as `./bootstrap demo` shows it to nobody: it ends by itself, and well.
. "${0%/*}/lib.sh"

began=$(now)
launch sh "$top_srcdir/conf/demo.sh"
await_daemon 30
is "it ends well" "$status" 0
within "soon" $(($(now) - began)) 0 15000
ok "it has shown the tree" says "$log" 'app .*up'
ok "who was waited for" says "$log" 'guard.*nightly backup'
ok "and the order of the end" in_order 'swansongd: root: shutting down: .*maintenance' 'app: closed' \
	'store: closed' 'swansongd: root: complete'
ok "nothing is left" wait_for 5 nobody_else
finish
