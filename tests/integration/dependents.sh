#!/bin/bash
# The effects of a stop, a restart and a reload on the dependents of a node are reported: before by a dry run,
# and afterwards by the command, which waits for them.
. "${0%/*}/lib.sh"

{
	service db
	printf '[web]\ncommand = sh -c '\''test ! -e %s/block || read -r _ <%s/go; echo >&3; exec %s/idle'\''\n' \
		"$dir" "$dir" "$helpers"
	printf '%s\n' 'ready = fd:3' 'requires = db'
	service shop/cart 'requires = web'
	service shop/asleep 'requires = web' 'autostart = no'
	service lone
	service user 'requires = shop'
} | config
mkfifo "$dir/go"
start_daemon
ok "all is ready" ctl wait / --for ready --timeout 60s

restarted() { jq -c '[.changes[] | select(.restart) | [.node, .because]]'; }
want='[["db",null],["web","db"],["shop/cart","web"]]'
sed -i 's/^\[db\]$/&\numask = 027/' "$ini"
is "a dry run lists the services that restart with a node" "$(ctl reload --dry-run --json | restarted)" "$want"
like "also to people" "$(ctl reload --dry-run)" 'restart +shop/cart .*by a restart: it requires web'
before=$(for node in db web shop/cart shop/asleep lone user; do pid_of $node; done)
is "a reload lists the same" "$(ctl reload --json | restarted)" "$want"
ok "and does it" ctl wait / --for ready --timeout 60s
for node in db web shop/cart; do
	not_in() { not grep -qx "$(pid_of "$1")" <<<"$before"; }
	ok "$node is another process" wait_for 10 not_in $node
done
for node in lone user; do
	ok "$node is the same" grep -qx "$(pid_of $node)" <<<"$before"
done

touch "$dir/block"
ctl restart db >"$dir/out" 2>&1 &
restart=$!
ok "a dependent that is restarted is on its way" wait_for 10 has_state web starting
ok "db is up" wait_for 10 has_state db up
ok "the restart waits for the dependents" kill -0 "$restart"
echo >"$dir/go"
wait "$restart"
is "and succeeds when they are ready" "$? $(state shop/cart)" "0 up"
like "it names them" "$(cat "$dir/out")" 'web: stopped with db, which it requires'
rm "$dir/block"

ok "a stop names its dependents" ctl stop web --json
is "to programs, too" "$(jq -c .with "$dir/ok.out")" '["shop/cart"]'
is "which are stopped" "$(state shop/cart) $(state db)" "down up"
stop_daemon
is "all ends well" "$status" 0
finish
