#!/bin/bash
# A reload starts what is new, stops what is gone, touches nothing else; a mistake changes nothing.
. "${0%/*}/lib.sh"

service() { printf '[%s]\ncommand = %s/idle\n' "$1" "$helpers"; }

{ service stays; service goes; } | config
start_daemon
ctl wait --for ready
stays=$(pid_of stays)
goes=$(pid_of goes)

{ service stays; service comes; } | config
kill -HUP "$daemon"
ok "SIGHUP starts what is new" wait_for 5 has_state comes up
ok "and stops what is gone" wait_for 5 gone "$goes"
is "what stays is not touched" "$(pid_of stays)" "$stays"
comes=$(pid_of comes)

{ service stays; service goes; echo 'comand = x'; } | config
ctl reload >"$dir/reload" 2>&1
is "a mistake fails the reload" "$?" 1
like "and is told to who asked" "$(cat "$dir/reload")" "$ini:5: .*comand"
is "and changes nothing" "$(pid_of stays) $(pid_of comes) $(field goes .state)" "$stays $comes "
kill -HUP "$daemon"
ok "by SIGHUP it is told in the log" wait_for 5 says "$log" "$ini:5: .*comand"
is "and changes nothing, too" "$(pid_of stays) $(pid_of comes)" "$stays $comes"

{ service stays; service goes; } | config
ok "the next one works again" ctl reload
ok "for what is new" wait_for 5 has_state goes up
ok "and what is gone" wait_for 5 gone "$comes"

{ service stays; service goes; echo 'umask = 077'; } | config
goes=$(pid_of goes)
ok "a change of a service is taken" ctl reload
ok "what has changed is named" says "$log" 'goes: .*changed|0 added, 0 removed, 1 changed'
is "and runs on as it was" "$(pid_of goes)" "$goes"

for i in {1..50}; do
	{ service stays; service "round$i"; } | config
	ctl reload >"$dir/reload" || break
done
is "fifty more" "$i" 50
ok "leave what the last one says" wait_for 10 has_state round50 up
is "and the one that always stayed" "$(pid_of stays)" "$stays"
one_of_each() { [ "$(pgrep -c -x idle)" = 2 ]; }
ok "and nothing else" wait_for 10 one_of_each

stop_daemon
is "the end is graceful" "$status" 0
ok "and complete" wait_for 10 nobody_else
finish
