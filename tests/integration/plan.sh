#!/bin/bash
# The plan of a shutdown, and its worst case: no process ends before its planned kill.
. "${0%/*}/lib.sh"

# Each of them waits for its kill, and so does each command that runs after it.
config <<END
[swansong]
shutdown-timeout = infinity
final = sleep 1000
final-timeout = 1s
[edge]
command = $helpers/stubborn $dir/edge
requires = app
stop-timeout = 500ms
drain-delay = 500ms
[app]
command = $helpers/stubborn $dir/app
requires = data
stop-timeout = 1s
post-stop = sleep 1000
[data]
final = sleep 1000
final-timeout = 500ms
[data/db]
command = $helpers/stubborn $dir/db
stop-timeout = 500ms
kill-signal = SIGTERM
[side]
command = $helpers/stubborn $dir/side
stop-timeout = 1s
END
start_daemon
for name in edge app db side; do
	wait_for 10 test -s "$dir/$name" || die "$name is there"
done

ctl plan --json >"$dir/plan"
ctl plan --config "$ini" --json >"$dir/offline"
is "with a daemon and without one it is the same" "$(jq -S . "$dir/plan")" "$(jq -S . "$dir/offline")"
is "the order" "$(jq -r '.entries[] | "\(.step) \(.node) \(.kind)"' "$dir/plan")" "1 side service
1 edge service
2 app service
3 data/db service
4 data final
5  final"
is "each node and the nodes that it waits for" "$(jq -r '.entries[] | select(.waits != []) | "\(.node): \(.waits | join(" "))"' "$dir/plan")" \
	"app: edge
data/db: app"
is "with a guard there is no limit" "$(jq .busy_usec "$dir/plan")" null

ctl plan >"$dir/text"
like "for people" "$(grep app "$dir/text")" '^2 +app +edge +2.0s +4.0s +6.0s '
like "in the end the worst case" "$(tail -n 1 "$dir/text")" '^worst case: 12.0s idle, infinity busy$'
ctl plan --grace 20s >"$dir/text"
is "it does not fit if it can be busy" "$?" 1
like "and the text shows the result for each case" "$(tail -n 1 "$dir/text")" 'fits 20.0s: not when busy'
ctl plan --grace 5s >"$dir/text"
is "it does not fit at all" "$?" 1
like "and the steps that take the time" "$(tail -n 1 "$dir/text")" \
	'fits 5.0s: no: edge 1.5s, then app 4.0s, then data/db 2.5s, then data 1.5s, then root 2.0s'
ctl plan side --grace infinity -q >"$dir/text"
is "without a grace it fits" "$?" 0
is "quietly" "$(cat "$dir/text")" ""
is "the plan of a node includes its dependents" \
	"$(ctl plan data --json | jq -r '[.entries[].node] | join(" ")')" "edge app data/db data"

# --- An ordinary shutdown ------------------------------------------------------------------------

worst=$(($(jq .idle_usec "$dir/plan") / 1000))
began=$(now)
kill -TERM "$daemon"
await_daemon 60
took=$(($(now) - began))
is "the real one was forced" "$status" 124
# A kill is given a second, and takes none, or one if something else than SIGKILL comes first.
within "the shutdown takes as long as planned, and not much less" "$took" $((worst - 7000)) "$worst"
comment <<<"$took ms, of $worst"
ok "and its order is that of the plan" in_order "${said}edge: killing" "${said}app: killing pid" \
	"${said}app: killing post-stop" "${said}data/db: killing" \
	"${said}data: killing final" "${said}root: killing final"

# --- Budgets -------------------------------------------------------------------------------------

sed -i 's/^shutdown-timeout = .*/shutdown-timeout = 3s/' "$ini"
ctl plan --config "$ini" --json >"$dir/plan"
is "a budget bounds it" "$(jq '.busy_usec < 9000000' "$dir/plan")" true
is "and the nodes that it cuts are marked" "$(jq -r '[.entries[] | select(.budget == "") | .node] | join(" ")' "$dir/plan")" \
	"app data/db"
rm -f "$dir"/{edge,app,db,side}
start_daemon
for name in edge app db side; do
	wait_for 10 test -s "$dir/$name" || die "$name is there again"
done
worst=$(($(ctl plan --json | jq .idle_usec) / 1000))
began=$(now)
kill -TERM "$daemon"
await_daemon 60
within "a shutdown that is cut is within the plan" $(($(now) - began)) 2000 "$worst"

rm -f "$dir"/{edge,app,db,side}
sed -i 's/^shutdown-timeout = .*/shutdown-timeout = 90s/' "$ini"
start_daemon --grace 4s
ctl plan >"$dir/text"
is "the daemon's own grace is exceeded" "$?" 1
like "which is a budget as well" "$(tail -n 1 "$dir/text")" '^worst case: [5-9].[0-9]s idle, [5-9].[0-9]s busy; fits 4.0s: no'
ctl shutdown --force >/dev/null
await_daemon 20

# --- Without a daemon ----------------------------------------------------------------------------

printf '[a]\ncommand = true\nstop-timeout = 5s\n[b/c]\n' >"$dir/small"
ctl plan --config "$dir/small" --grace 95s >"$dir/text"
is "a plan that fits succeeds" "$?" 0
like "and its text shows it" "$(tail -n 1 "$dir/text")" '^worst case: 6.0s idle, 1min 31s busy; fits 1min 35s: yes$'
is "an empty node has no plan" "$(ctl plan b --config "$dir/small")" "worst case: 0ms idle, infinity busy"
ctl plan nope --config "$dir/small" 2>/dev/null
is "a node that is not there" "$?" 4
echo 'mistake' >>"$dir/small"
ctl plan --config "$dir/small" 2>"$dir/text"
is "files with mistakes" "$?" 78
like "name them" "$(cat "$dir/text")" 'small:5: '
ctl plan 2>/dev/null
is "without a daemon and a file" "$?" 3
finish
