#!/bin/bash
# What requires, wants, after and term-after mean for processes: who waits for whom with its start, what
# comes of a failure, who is brought along, and who is signalled when.
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
ok "who is only term-after is up as soon as anybody" wait_for 10 has_state patient up
is "who requires, wants, or comes after what is not ready is not started" \
	"$(state needs) $(state likes) $(state follows)" "down down down"
like "and says what it waits for" "$(ctl status likes)" 'waits for: *db'
echo >"$dir/db.go"
for node in needs likes follows; do
	ok "$node is up when that is ready" wait_for 10 has_state "$node" up
	ok "and not before" in_order ' db: ready' " $node: started"
done

ok "what another needs fails" wait_for 10 has_state broken failed
for node in broken-likes broken-follows; do
	ok "$node is started all the same" wait_for 10 has_state "$node" up
	ok "when that has failed" in_order ' broken: exited with status 1' " $node: started"
done
is "who requires it is not" "$(state broken-needs)" down
like "and says why" "$(ctl status broken-needs)" 'waits for: *broken'

is "who sleeps is down" "$(state asleep@wanted) $(state asleep@followed)" "down down"
ok "who wants it is started by hand" ctl start wakes --timeout 10s
is "and has brought it along" "$(state asleep@wanted)" up
ok "which came first" in_order ' asleep@wanted: started' ' wakes: started'
ok "who comes after another is started by hand" ctl start wakes-nobody --timeout 10s
is "without that" "$(state asleep@followed)" down

# --- The stop of one -----------------------------------------------------------------------------

wait_for 10 says "$dir/slow" ready || die "slow is there"
likes=$(pid_of likes) follows=$(pid_of follows)
ok "what others need is stopped" ctl stop db --timeout 10s
is "with who requires it" "$(state needs)" down
ok "who went first" in_order ' needs: SIGTERM' ' needs: stopping -> down' ' db: SIGTERM'
is "the others run on" "$(pid_of likes) $(pid_of follows)" "$likes $follows"
ok "it is started again" ctl start db needs --no-wait
echo >"$dir/db.go"
ok "with who requires it" ctl wait needs --for ready --timeout 10s

patient=$(pid_of patient)
ok "who is term-after another is stopped alone" ctl stop patient --timeout 10s
ok "without waiting for that" gone "$patient"
is "which runs" "$(state slow)" up
ctl start patient --timeout 10s >/dev/null

# --- The stop of all -----------------------------------------------------------------------------

: >"$log"
kill -TERM "$daemon"
ok "all are stopped" wait_for 10 says "$dir/slow" TERM
is "who is term-after another waits with its signal for the end of that" "$(state patient)" waiting
for node in needs likes follows; do
	ok "db had to wait for $node" wait_for 10 in_order " $node: stopping -> down" ' db: SIGTERM'
done
ok "what was brought along went last, too" in_order ' wakes: stopping -> down' ' asleep@wanted: SIGTERM'
echo >"$dir/slow.go"
await_daemon 20
is "the end is graceful" "$status" 0
ok "and in that order" in_order ' slow: stopping -> down' ' patient: SIGTERM'
ok "nothing is left" wait_for 10 nobody_else
finish
