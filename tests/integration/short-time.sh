#!/bin/bash
# Little time for a shutdown, and more time: stop-priority, --within, --extend, --hold and --release.
. "${0%/*}/lib.sh"

is_there() { test -s "$dir/$1"; } # NODE
services() { # NODE...: stubborn services with a stop-timeout of 4s
	local node
	for node in "$@"; do
		printf '[%s]\ncommand = %s/stubborn %s/%s\nstop-timeout = 4s\n' "$node" "$helpers" "$dir" "$node"
		case $node in
		cache) printf 'stop-priority = -10\nrequires = web\n' ;;
		web) printf 'requires = db\n' ;;
		esac
	done
}
start() { # NODE...
	rm -f "$dir"/cache "$dir"/web "$dir"/db
	{
		printf '[swansong]\nreport = %s/report\n' "$dir"
		services "$@"
	} >"$ini"
	start_daemon
	ctl wait --for ready --timeout 10s
	for node in "$@"; do
		wait_for 10 is_there "$node" || die "$node is there"
	done
}
reported() { jq -r --arg node "$1" ".nodes[] | select(.path == \$node) | .$2 // false" "$dir/report"; } # NODE MEMBER
took() { # NODE: milliseconds from its stop signal until it was complete
	jq --arg node "$1" '.nodes[] | select(.path == $node) |
		(.complete_usec - ((.states[] | select(.state == "stopping") | .at_usec) // .complete_usec)) / 1000 | floor' "$dir/report"
}

was_held() { [ "$(tail -n +"$lines" "$log" | grep -c 'the shutdown is on hold')" = 2 ]; }

# --- Too little for all ---

start cache web db
ok "a plan within the time names the service that is killed early" says <(ctl plan --within 10s) \
	'1 +cache .*killed early, for a higher stop-priority'
is "and no other one" "$(ctl plan --within 10s --json | jq -r '[.entries[] | select(.early) | .node] | join(" ")')" cache
is "with enough time there is none" \
	"$(ctl plan --within 60s --json | jq -r '[.entries[] | select(.early)] | length')" 0
ctl shutdown --within 10s >/dev/null
wait_for 20 not kill -0 "$daemon" 2>/dev/null
within "the whole has ended in time" "$(jq '.total_usec / 1000 | floor' "$dir/report")" 7000 10000
is "the lowest stop-priority was killed early" "$(reported cache early)" true
is "the others were not" "$(reported web early) $(reported db early)" "false false"
within "a store has its time" "$(took db)" 3900 6000
within "and so has the service before it" "$(took web)" 3900 6000
ok "the log names the reason" says "$log" 'cache: ended early: services of a higher stop-priority need the time'
ok "the report does, too" says <("$swansongctl" blame --report "$dir/report") '^cache: killed early, for a higher stop-priority'

# --- The time shrinks while it runs ---

start web db
ctl shutdown --no-wait >/dev/null
wait_for 5 has_state web stopping || die "web is stopping"
began=$(now)
ctl shutdown --within 3s >/dev/null
wait_for 20 not kill -0 "$daemon" 2>/dev/null
within "a second request shortens a shutdown" $(($(now) - began)) 1000 7000 # of 8

# --- More time ---

start web db
began=$(now)
ctl shutdown --no-wait >/dev/null
wait_for 5 has_state web stopping || die "web is stopping"
ok "a shutdown that is under way gets more time" ctl shutdown --extend 3s
ok "the log has it" says "$log" 'root: 3\.0s more for the shutdown: by request'
ok "web is killed" wait_for 20 has_state db stopping
within "after its stop-timeout, and that time" $(($(now) - began)) 6800 12000
ok "it is put on hold" ctl shutdown --hold
held=$(now)
like "which status shows" "$(ctl status --json | jq -c '.nodes[0]')" '"held_usec":'
ok "the store is not killed on hold" not wait_for 6 not has_state db stopping
ok "it is released" ctl shutdown --release
released=$(now)
wait_for 20 not kill -0 "$daemon" 2>/dev/null
within "the time on hold does not count" $(($(now) - held)) $((released - held + 3000)) $((released - held + 9000))

lines=$(wc -l <"$log")
start web db
is "without a shutdown there is nothing to extend" \
	"$(ctl shutdown --extend 3s 2>&1)" "swansongctl: root: no shutdown is in progress"
ctl shutdown --no-wait >/dev/null
wait_for 5 has_state web stopping || die "web is stopping"
ctl shutdown --hold >/dev/null
kill -KILL "$(cat "$dir/web")"
wait_for 10 has_state web down || die "web is down"
ok "on hold no other service gets a signal" not wait_for 1 not has_state db waiting
before=$(pid_of db)
kill -SEGV "$daemon"
ok "a fault of the daemon does not end the hold" wait_for 10 was_held
is "the store goes on" "$(pid_of db)" "$before"
ok "a limit from a battery ends the hold" ctl shutdown --no-wait --within 3s
wait_for 20 not kill -0 "$daemon" 2>/dev/null
ok "with a line" says "$log" 'the shutdown goes on after .*: its time is limited by request'

# --- The parent manager ---

SWANSONG_GRACE=6s start web db
ctl shutdown --no-wait >/dev/null
wait_for 5 has_state web stopping || die "web is stopping"
like "the grace of the parent manager is not exceeded" "$(ctl shutdown --extend 5min 2>&1)" \
	'root: cannot be extended: its time is limited from above'
like "nor by a hold" "$(ctl shutdown --hold 2>&1)" 'root: cannot be held: its time is limited'
wait_for 20 not kill -0 "$daemon" 2>/dev/null

finish
