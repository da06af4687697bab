#!/bin/bash
# A rollout of services that hand over: no connection is refused, and a successor that does not become ready leads back.
. "${0%/*}/lib.sh"

tree() { # VERSION
	cat <<-END
	[web@]
	instances = 2
	command = bash -c 'test ! -e $dir/bad-$1-%i || exit 3; echo >&5; exec $helpers/idle'
	ready = fd:5
	environment = VERSION=$1
	listen = unix:$dir/%i.sock
	handover = yes
	END
}
rollout() { "$swansongctl" rollout "$@" >"$dir/out" 2>&1; }
version_of() { tr '\0' '\n' <"/proc/$(pid_of "$1")/environ" | sed -n 's/^VERSION=//p'; }
versions() { echo "$(version_of web@1) $(version_of web@2)"; }
clear_log() { : >"$log"; }

tree one | config
start_daemon
ok "the tree is ready" ctl wait --for ready --timeout 60s
tree two | config
clear_log
ok "a rollout" rollout web@ --settle 50ms
is "renews all" "$(versions)" "two two"
like "by hand-over" "$(cat "$log")" 'web@1~[0-9]*: '

touch "$dir/bad-three-2"
tree three | config
second=$(pid_of web@2)
rollout web@ --or-undo --settle 50ms
is "a successor that fails leads back" "$?" 6
is "all have the former settings" "$(versions)" "two two"
is "and the run that was to be replaced goes on" "$(pid_of web@2)" "$second"
like "the output has the reason" "$(cat "$dir/out")" 'web@2: .*status 3'
ok "nothing is outdated" test "$(ctl status --json | jq '[.nodes[] | select(.service.outdated)] | length')" = 0
tree four | config
clear_log
ok "a rollout" rollout web@ --settle 30s --no-wait
stop_daemon
is "a shutdown in the middle ends well" "$status" 0
finish
