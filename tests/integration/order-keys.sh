#!/bin/bash
# Effects of requires, wants, after and term-after on processes: the order of starts, failed requirements,
# services that are started along, and the order of signals.
. "${0%/*}/lib.sh"

mkfifo "$dir/db.go" "$dir/slow.go"
config <<END
[db]
command = sh -c 'read -r _ <$dir/db.go; echo >&3; exec $helpers/idle'
ready = fd:3
[needs]
command = $helpers/idle
requires = db
[likes]
command = $helpers/idle
wants = db
[follows]
command = $helpers/idle
after = db
[broken]
command = sh -c 'exit 1'
ready = fd:3
restart = never
[broken-needs]
command = $helpers/idle
requires = broken
[broken-likes]
command = $helpers/idle
wants = broken
[broken-follows]
command = $helpers/idle
after = broken
[asleep@]
instances = wanted followed
command = $helpers/idle
autostart = no
[wakes]
command = $helpers/idle
wants = asleep@wanted
autostart = no
[wakes-nobody]
command = $helpers/idle
after = asleep@followed
autostart = no
[slow]
command = $helpers/signal-log $dir/slow 0 $dir/slow.go
[patient]
command = $helpers/idle
term-after = slow
END
start_daemon

# --- The start -----------------------------------------------------------------------------------

wait_for 10 has_state db starting || die "db is starting"
ok "a service that is only term-after another does not wait for it" wait_for 10 has_state patient up
is "requires, wants and after keep a service down until the other one is ready" \
	"$(state needs) $(state likes) $(state follows)" "down down down"
like "and its status names the node that it waits for" "$(ctl status likes)" 'waits for: *db'
echo >"$dir/db.go"
for node in needs likes follows; do
	ok "$node is up when that is ready" wait_for 10 has_state "$node" up
	ok "and not before" in_order ' db: ready' " $node: started"
done

ok "a required service fails" wait_for 10 has_state broken failed
for node in broken-likes broken-follows; do
	ok "$node is started all the same" wait_for 10 has_state "$node" up
	ok "when that has failed" in_order ' broken: exited with status 1' " $node: started"
done
is "a service that requires it is not" "$(state broken-needs)" down
like "and its status names the failed node" "$(ctl status broken-needs)" 'waits for: *broken'

is "a sleeping service is down" "$(state asleep@wanted) $(state asleep@followed)" "down down"
ok "a service that wants it is started by hand" ctl start wakes --timeout 60s
is "and has brought it along" "$(state asleep@wanted)" up
ok "which came first" in_order ' asleep@wanted: started' ' wakes: started'
ok "a service after another one is started by hand" ctl start wakes-nobody --timeout 60s
is "without that" "$(state asleep@followed)" down

# --- The stop of one -----------------------------------------------------------------------------

wait_for 10 says "$dir/slow" ready || die "slow is there"
likes=$(pid_of likes) follows=$(pid_of follows)
ok "a required service is stopped" ctl stop db --timeout 60s
is "with the service that requires it" "$(state needs)" down
ok "its dependent went first" in_order ' needs: SIGTERM' ' needs: stopping -> down' ' db: SIGTERM'
is "the others run on" "$(pid_of likes) $(pid_of follows)" "$likes $follows"
ok "it is started again" ctl start db needs --no-wait
echo >"$dir/db.go"
ok "with the service that requires it" ctl wait needs --for ready --timeout 60s

patient=$(pid_of patient)
ok "a service that is term-after another is stopped alone" ctl stop patient --timeout 60s
ok "without waiting for that" gone "$patient"
is "which runs" "$(state slow)" up
ctl start patient --timeout 10s >/dev/null

# --- The stop of all -----------------------------------------------------------------------------

: >"$log"
kill -TERM "$daemon"
ok "all are stopped" wait_for 10 says "$dir/slow" TERM
is "a service that is term-after another gets its signal after the end of that one" "$(state patient)" waiting
for node in needs likes follows; do
	ok "db had to wait for $node" wait_for 10 in_order " $node: stopping -> down" ' db: SIGTERM'
done
ok "a service that was started along went last, too" in_order ' wakes: stopping -> down' ' asleep@wanted: SIGTERM'
echo >"$dir/slow.go"
await_daemon 20
is "the end is graceful" "$status" 0
ok "and in that order" in_order ' slow: stopping -> down' ' patient: SIGTERM'
ok "nothing is left" wait_for 10 nobody_else
finish
