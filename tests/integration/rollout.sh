#!/bin/bash
# A rollout restarts services one after another, and stops at the first that fails: the others keep
# their processes.  It goes on where it stopped, or back.
. "${0%/*}/lib.sh"

# Three instances, of which each asks $dir/NAME how its run goes, and a service that is no part of it.
tree() { # VERSION
	cat <<-END
	[web@]
	instances = 3
	command = bash -c 'echo "%i runs $1"; test ! -e $dir/bad-$1-%i || exit 3; exec $helpers/idle'
	restart-delay = 10s
	[db]
	command = $helpers/idle
	environment = VERSION=$1
	END
}
rollout() { "$swansongctl" rollout "$@" >"$dir/out" 2>&1; }
pids() { local i; for i; do pid_of "web@$i"; done | paste -sd ' '; }
version_of() { tr '\0' '\n' <"/proc/$(pid_of db)/environ" | sed -n 's/^VERSION=//p'; }
clear_log() { : >"$log"; }

tree one | config
start_daemon
ok "the tree is ready" ctl wait --for ready --timeout 60s

# --- Without a change ---

before=$(pids 1 2 3)
db=$(pid_of db)
clear_log
ok "a rollout of a template restarts its instances" rollout web@ --settle 50ms
is "each has another process" "$(comm -12 <(tr ' ' '\n' <<<"$before" | sort) <(pids 1 2 3 | tr ' ' '\n' | sort))" ''
ok "in their order" in_order 'web@1: SIGTERM' 'web@1: started' 'web@2: SIGTERM' 'web@2: started' \
	'web@3: SIGTERM' 'web@3: started'
like "it counts them" "$(cat "$dir/out")" 'web@1: ready, 1 of 3.*web@2: ready, 2 of 3.*web@3: ready, 3 of 3'
start=$(now)
ok "with --settle each stays ready for so long" rollout 'web@*' --settle 400ms
within "before the next one" $(($(now) - start)) 1200 20000
clear_log
"$swansongctl" guard web@1 -- sleep 1000 &
holder=$!
cleanup_fn end_process "$holder"
wait_for 10 has_leases web@1 1 || die "web@1 has a guard, for which its restart waits"
rollout web@ --parallel 2 --settle 50ms &
rolling=$!
ok "with --parallel so many are restarted at a time" wait_for 10 says "$log" 'web@2: started'
end_process "$holder"
ok "and the rollout goes on when all of these are ready" wait "$rolling"
ok "with the next ones" in_order 'web@2: started' 'web@1: started' 'web@3: SIGTERM'
is "nothing else is touched" "$(pid_of db)" "$db"
rollout --undo web@
is "there is nothing to undo" "$?" 1
like "and the output gives the reason" "$(cat "$dir/out")" 'no rollout to undo'

# --- A change ---

tree two | config
before=$(pids 1 2 3)
ok "a dry run" rollout --dry-run web@
like "names the services in their order" "$(cat "$dir/out")" \
	'web@1 +command.*by the rollout.*web@1: would be restarted, 1 of 3.*web@3: would be restarted, 3 of 3.*nothing was done'
is "and changes nothing" "$(pids 1 2 3)" "$before"
clear_log
ok "a rollout reads the files" rollout web@ --settle 50ms
ok "so that each instance runs with them" in_order '1 runs two' '2 runs two' '3 runs two'
is "a service that was not named keeps its process" "$(pid_of db)" "$db"
like "and the output names it" "$(cat "$dir/out")" 'db: keeps its former settings'
like "by the status, too" "$(ctl status)" 'db .* outdated'
like "and by that of the service" "$(ctl status db)" 'outdated: +its settings have changed'
is "of no other" "$(ctl status --json | jq -r '[.nodes[] | select(.service.outdated) | .path] | join(" ")')" db
like "a reload would restart it" "$(ctl reload --dry-run)" 'change +db +environment .* now, by a restart'
clear_log
ok "the undo restarts one after another, too" rollout --undo web@ --settle 50ms
ok "with the former settings, in reverse" in_order '3 runs one' '2 runs one' '1 runs one'
is "a service with these already is not touched" "$(pid_of db) $(version_of)" "$db one"
before=$(pids 1 2 3)
ok "an undo after an undo" rollout --undo web@
is "restarts nothing" "$(pids 1 2 3)" "$before"
ok "the next reload reads the files again" ctl reload
ok "and restarts all that run with others" ctl wait --for ready --timeout 60s
is "db, too" "$(version_of)" two
rollout --undo web@
is "and then there is no rollout to undo" "$?" 1

is "JSON has the result" "$("$swansongctl" rollout --json --settle 0 web@2 web@1 | jq -c '[.changes, .rollout.state, [.rollout.steps[].node]]')" \
	'[[],"done",["web@1","web@2"]]'

# --- A failure ---

touch "$dir/bad-three-2"
tree three | config
before=$(pids 2 3)
rollout web@ --settle 300ms
is "a rollout fails with its first service" "$?" 1
is "the next one is not touched" "$(pid_of web@3)" "${before#* }"
like "the output has the result of the service" "$(cat "$dir/out")" 'web@2: exited with status 3'
like "and how to go on, and back" "$(cat "$dir/out")" \
	'1 of 3 are done; to go on: swansongctl rollout --continue; to go back: swansongctl rollout --undo'
third=$(pid_of web@3)
clear_log
ok "it goes back" rollout --undo web@ --settle 50ms
ok "first the service that failed" in_order '2 runs two' '1 runs two'
is "and not a service that was not reached" "$(pid_of web@3)" "$third"

rollout web@ --settle 300ms
is "again it fails" "$?" 1
rm "$dir/bad-three-2"
first=$(pid_of web@1)
tree four | config
clear_log
ok "it goes on with mended files" rollout web@2 web@3 --settle 50ms
ok "in order" in_order '2 runs four' '3 runs four'
is "without the services that it does not name" "$(pid_of web@1)" "$first"
clear_log
ok "an undo of an unfinished rollout goes back" rollout --undo web@ --settle 50ms
ok "to the settings before the first attempt" in_order '3 runs two' '2 runs two' '1 runs two'

# --- Wrong use, and a shutdown ---

rollout nothing
is "an unknown node is refused" "$?" 4
before=$(pid_of web@3)
ok "a rollout goes on without its command" rollout --no-wait web@ --settle 50ms
rollout web@
is "and another one is refused meanwhile" "$?" 1
ok "without a node the command waits for its end" rollout
like "and shows it" "$(cat "$dir/out")" 'web@3: ready, 3 of 3'
ok "it has restarted them" not test "$(pid_of web@3)" = "$before"
rollout --parallel 0 web@
is "no service at a time is refused" "$?" 2
echo 'comand = x' >>"$ini"
before=$(pids 1 2 3)
rollout web@
is "a mistake in the files is refused" "$?" 1
is "before anything changes" "$(pids 1 2 3)" "$before"

{ tree five; printf '[slow]\ncommand = %s/stubborn\nstop-timeout = 3s\n' "$helpers"; } | config
ok "a service that ends late" ctl reload
ok "the tree is ready again" ctl wait --for ready --timeout 60s
ok "and has written its lines" wait_for 10 says "$log" '1 runs five'
clear_log
"$swansongctl" rollout web@ --settle 60s >"$dir/out" 2>&1 &
rolling=$!
ok "a rollout is under way" wait_for 10 says "$log" '1 runs five'
ctl shutdown --no-wait >"$dir/shutdown"
wait "$rolling"
is "a shutdown ends it" "$?" 1
like "the output has the number of services that are done" "$(cat "$dir/out")" '0 of 3 are done'
rollout web@
is "during the shutdown a rollout is refused" "$?" 1
like "and the output gives the reason" "$(cat "$dir/out")" 'the tree is shutting down'
ctl shutdown --force >"$dir/shutdown" 2>&1
await_daemon 20
finish
