#!/bin/bash
# A rollout is an object of the daemon: it goes back by itself if a service fails, pauses, and goes on without
# its client, and over a fault of the daemon.
. "${0%/*}/lib.sh"

# Three instances, each of which asks $dir/bad-VERSION-NUMBER how its run goes, and one that no rollout is about.
tree() { # VERSION
	cat <<-END
	[web@]
	instances = 3
	command = bash -c 'echo "%i runs $1"; test ! -e $dir/bad-$1-%i || exit 3; exec $helpers/idle'
	health = exec:test ! -e $dir/sick-$1-%i
	health-interval = 100ms
	environment = VERSION=$1
	restart-delay = 10s
	[db]
	command = $helpers/idle
	END
}
rollout() { "$swansongctl" rollout "$@" >"$dir/out" 2>&1; }
clear_log() { : >"$log"; }
pids() { local i; for i; do pid_of "web@$i"; done | paste -sd ' '; }
runs() { # VERSION
	local i
	for i in 1 2 3; do
		tr '\0' '\n' <"/proc/$(pid_of "web@$i")/environ" | grep -qx "VERSION=$1" || return
	done
}
rollout_state() { "$swansongctl" status --json | jq -r .rollout.state; }
is_rollout() { test "$(rollout_state)" = "$1"; }

tree one | config
start_daemon
ok "the tree is ready" ctl wait --for ready --timeout 60s
db=$(pid_of db)

# --- A failure leads back ---

touch "$dir/bad-two-2"
tree two | config
clear_log
third=$(pid_of web@3)
rollout --or-undo web@ --settle 1s
is "a rollout that fails goes back, with a status of its own" "$?" 6
ok "in reverse" in_order '1 runs two' '2 runs two' '2 runs one' '1 runs one'
is "a service that was not reached keeps its process" "$(pid_of web@3)" "$third"
is "and one that it is not about" "$(pid_of db)" "$db"
like "the output has the reason" "$(cat "$dir/out")" 'web@2: exited with status 3'
ok "all have the former settings" runs one
is "all are up" "$(state web@1) $(state web@2) $(state web@3)" "up up up"
is "the status has the result" "$(rollout_state)" undone
is "and nothing is outdated" "$(ctl status --json | jq -r '[.nodes[] | select(.service.outdated) | .path] | join(" ")')" ''
like "the events have its states" "$(ctl events --no-wait)" 'rollout: running -> undoing \(web@2.*rollout: undoing -> undone'

touch "$dir/sick-three-2"
tree three | config
rollout --or-undo web@ --settle 2s
is "so does one with a service that is unhealthy" "$?" 6
like "with that reason" "$(cat "$dir/out")" 'web@2: unhealthy'
ok "all have the former settings" runs one

# --- Without a change there is nothing to go back to ---

tree one | config
before=$(pids 1 2 3)
ok "a rollout of the same settings" rollout --or-undo web@ --settle 50ms
touch "$dir/bad-one-2"
rollout --or-undo web@ --settle 1s
is "fails at a service that does not come back" "$?" 1
rm "$dir/bad-one-2"
ok "and goes on" rollout --continue
is "to its end" "$(rollout_state)" "done"

# --- A canary ---

tree four | config
clear_log
before=$(pids 2 3)
ok "a rollout pauses" rollout web@ --pause-after 1 --settle 50ms
like "and the output shows how it goes on" "$(cat "$dir/out")" '1 of 3 are done; to go on: swansongctl rollout --continue'
is "the others keep their processes" "$(pids 2 3)" "$before"
like "the status shows it" "$(ctl status)" 'rollout: paused, 1 of 3 are done'
ctl reload >"$dir/out" 2>&1
is "a reload is refused, which would restart the others" "$?" 1
like "the output has the reason" "$(cat "$dir/out")" 'a rollout is not finished'
ok "it goes on" rollout --continue
ok "with the others" in_order '1 runs four' '2 runs four' '3 runs four'
tree five | config
ok "another canary" rollout web@ --pause-after 1 --settle 50ms
before=$(pids 2 3)
ok "goes back" rollout --undo
is "and leaves the others" "$(pids 2 3)" "$before"
ok "all have the former settings" runs four

# --- Without its client, and over a fault ---

tree six | config
clear_log
"$swansongctl" rollout web@ --or-undo --settle 300ms >"$dir/out" 2>&1 &
client=$!
ok "a rollout is under way" wait_for 10 says "$log" '1 runs six'
kill -KILL "$client"
wait "$client" 2>/dev/null
ok "goes on when its client is killed" wait_for 20 is_rollout "done"
ok "with all its services" runs six
touch "$dir/bad-seven-3"
tree seven | config
clear_log
ok "another one" rollout web@ --or-undo --settle 1s --no-wait
ok "is under way" wait_for 10 says "$log" '1 runs seven'
kill -SEGV "$daemon"
rollout
is "goes on after a fault of the daemon, and back" "$?" 6
like "which the next caller is shown" "$(cat "$dir/out")" 'web@3: exited with status 3'
ok "all have the former settings" runs six
is "all are up" "$(state web@1) $(state web@2) $(state web@3)" "up up up"
is "a service that it is not about keeps its process" "$(pid_of db)" "$db"

# --- A stop by hand ---

tree eight | config
clear_log
ok "a rollout" rollout web@ --or-undo --settle 30s --no-wait
ok "is under way" wait_for 10 says "$log" '1 runs eight'
ok "a stop by hand of its service" ctl stop web@1
rollout
is "leads back" "$?" 6
like "and the output names it" "$(cat "$dir/out")" 'web@1: stopped'
is "the service stays stopped" "$(state web@1)" down
ctl start web@1
ok "and starts with the former settings" runs six

# --- A shutdown in the middle ---

tree nine | config
clear_log
ok "a rollout" rollout web@ --settle 30s --no-wait
ok "is under way" wait_for 10 says "$log" '1 runs nine'
stop_daemon
is "a shutdown ends it, and all ends well" "$status" 0
finish
