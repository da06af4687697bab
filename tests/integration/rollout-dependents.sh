#!/bin/bash
# A rollout of the instances of a template leaves the nodes that require the template: enough of the
# others are ready.  A node that restarts all the same is named, before and afterwards.
. "${0%/*}/lib.sh"

tree() { # VERSION
	cat <<-END
	[app@]
	instances = 3
	command = $helpers/idle
	environment = VERSION=$1
	[front]
	command = $helpers/idle
	requires = app@
	environment = VERSION=$1
	[named]
	command = $helpers/idle
	requires = app@2
	environment = VERSION=$1
	[far]
	command = $helpers/idle
	requires = named
	END
}
rollout() { "$swansongctl" rollout "$@" --settle 50ms >"$dir/out" 2>&1; }
pids() { local i; for i; do pid_of "$i"; done | paste -sd ' '; }
version_of() { tr '\0' '\n' <"/proc/$(pid_of "$1")/environ" | sed -n 's/^VERSION=//p'; }
generations() { local i; for i; do field "$i" .generation; done | paste -sd ' '; }
named() { grep -o '^[a-z]*: .* with app@.*' "$dir/out" | paste -sd ';'; }

tree one | config
start_daemon
ok "the tree is ready" ctl wait --for ready --timeout 60s
before=$(generations app@1 app@2 app@3 front named far)
pid=$(pid_of front)

# --- One after another ---

tree two | config
ok "a dry run" rollout --dry-run app@
is "names each node that restarts with an instance" "$(named)" \
	'named: would be restarted with app@2, which it requires;far: would be restarted with app@2, which it requires'
like "and the one that keeps its settings" "$(cat "$dir/out")" 'front: keeps its former settings'
ok "and not the others" not says "$dir/out" 'named: keeps'
is "to programs, too" "$("$swansongctl" rollout --dry-run --json app@ | jq -c '[[.rollout.steps[:3][].node], [.rollout.steps[3:][].node]]')" \
	'[["app@1","app@2","app@3"],["named","far"]]'
is "and changes nothing" "$(generations app@1 app@2 app@3 front named far)" "$before"
ok "the rollout" rollout app@
is "names the same" "$(named)" \
	'named: stopped with app@2, which it requires;far: stopped with app@2, which it requires'
is "each node was restarted once, as named" "$(generations app@1 app@2 app@3 front named far)" "2 2 2 1 2 2"
is "the node that requires the template keeps its process" "$(pid_of front)" "$pid"
is "and its settings" "$(version_of front)" one
is "the one that was restarted has the new ones" "$(version_of named)" two
ok "and the output does not claim the opposite" not says "$dir/out" 'named: keeps'
is "all are ready when it ends" "$(state named) $(state far) $(state front)" "up up up"

# --- A part of the rollout restarts with another part ---

ok "a rollout of nodes that require each other" rollout app@2 named far front
is "restarts each once" "$(generations app@1 app@2 app@3 front named far)" "2 3 2 2 3 3"
like "and counts each" "$(cat "$dir/out")" 'app@2: ready, .*(named|far): ready, . of 4.*front: ready, 4 of 4'

# --- Not enough others ---

ok "a dry run of two at a time" rollout --dry-run --parallel 2 app@1 app@3
is "names what would have too few" "$(named)" 'front: would be restarted with app@3, which it requires'
ok "unless fewer are enough" rollout --dry-run --parallel 2 --min-ready 1 app@1 app@3
is "which names none" "$(named)" ''
pid=$(pid_of front)
ok "the rollout with that limit" rollout --parallel 2 --min-ready 1 app@1 app@3
is "keeps it" "$(pid_of front)" "$pid"
"$swansongctl" guard app@1 -- sleep 1000 &
holder=$!
cleanup_fn end_process "$holder"
wait_for 10 has_leases app@1 1 || die "app@1 has a guard, for which its restart waits"
rollout --parallel 2 app@1 app@3 &
rolling=$!
ok "without it" wait_for 10 says "$log" 'front: shutting down: requires app@3'
end_process "$holder"
ok "the rollout" wait "$rolling"
is "restarts it" "$(named)" 'front: stopped with app@3, which it requires'
ok "after which it is ready" has_state front up
ok "it is another process" not test "$(pid_of front)" = "$pid"
rollout --min-ready 0 app@
is "none is refused" "$?" 2

# --- A stop by hand, and a crash of the dependent ---

ok "a stop of one instance" ctl stop app@1
pid=$(pid_of front)
is "leaves the node that requires the template" "$(state front)" up
kill -KILL "$pid"
ok "which comes back after a crash" wait_for 20 is_up_anew front "$pid"
ok "and the tree is healthy" ctl health
stop_daemon
is "all ends well" "$status" 0
finish
