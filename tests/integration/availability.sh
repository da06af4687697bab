#!/bin/bash
# The ledger of availability: over a hundred restarts, crashes and stops, with a shutdown, a fault and a kill of the
# daemon among them, it agrees with a prober from outside.
. "${0%/*}/lib.sh"

history=$dir/history.jsonl
prober=$(realpath "$top_srcdir")/tests/helpers/prober.py
port=8080
of() { jq -r "select(.outage and .node == \"$1\") | $2" "$history"; } # NODE FILTER
availability() { ctl availability --json "$@"; }
outages() { availability "$1" | jq ".nodes[0].causes.$2.outages"; } # NODE CAUSE

config <<END
[swansong]
report = $dir/report.json
[web]
command = $helpers/port-server $port 150
ready = notify
restart-delay = 100ms
restart-limit = none
[front]
command = $helpers/idle
requires = web
[app]
command = $helpers/idle
listen = unix:$dir/app.socket
handover = yes
[job]
command = true
type = oneshot
[idle]
command = $helpers/idle
autostart = no
END
own_program
start_daemon
ok "all is up" wait_for 20 has_state web up
ok "so is what requires it" wait_for 10 has_state front up
python3 "$prober" probe $port "$dir/probed" &
probe=$!
cleanup_fn end_process $probe
ok "the prober has begun" wait_for 10 test -s "$dir/probed"

# --- A hundred outages ---

restart() { ctl restart web >/dev/null; }
crash() {
	local pid
	pid=$(pid_of web)
	kill -KILL "$pid"
	wait_for 10 is_up_anew web "$pid"
}
stop() {
	ctl stop web >/dev/null && ctl start web front >/dev/null
}
failed=0
for _ in {1..15}; do
	restart && crash && stop || failed=$((failed + 1))
done

before=$(pid_of web)
kill -SEGV "$daemon"
ok "the daemon has a fault" wait_for 10 has_faults 1
ok "its services go on" has_state web up
n=$(of web .outage | grep -vc over)
app=$(pid_of app)
ok "app hands over" ctl restart app
ok "to another process" not [ "$(pid_of app)" = "$app" ]
is "which is no outage" "$(of app .outage | sort -u)" over
is "nor is the fault" "$(of web .outage | grep -vc over) $(pid_of web)" "$n $before"

stop_daemon
start_daemon
ok "after a shutdown web is up again" wait_for 20 has_state web up
is "which was planned" "$(outages web unknown)" 0

for _ in {1..19}; do
	restart && crash && stop || failed=$((failed + 1))
done
is "all is as it was to be" "$failed" 0

# --- The daemon is killed ---

ok "front is up, too" wait_for 10 has_state front up
before=$(pid_of web)
kill -KILL "$daemon"
await_daemon 10
end_process "$before"
start_daemon
ok "the next daemon has it up" wait_for 20 has_state web up
is "in between it is unknown" "$(outages web unknown)" 1
is "for each service that was ready" "$(outages front unknown) $(outages app unknown)" "1 1"
ok "it is stopped and started" stop
kill "$probe"
wait "$probe"

# --- The figures ---

availability >"$dir/availability.json"
found=$(python3 "$prober" compare "$dir/probed" web <"$dir/availability.json")
comment <<<"$found"
has() { [ "$(jq "$1" <<<"$found")" = true ]; }
ok "there are a hundred outages" has '.ledger >= 100 and .unknown == 1'
ok "the prober agrees within 1 % of the run" has '.of_the_run < 0.01'
is "each crash is a failure" "$(outages web failure)" 34
is "the others were planned" "$(outages web planned)" 70
is "a service that requires it was down with it" "$(jq '.nodes[] | select(.node == "front").causes.dependency.outages > 60' "$dir/availability.json")" true
is "a job and an idle service have no ledger" "$(jq -r '.nodes[].node' "$dir/availability.json" | xargs)" "app front web"
like "the table has the share, the number, the longest and the causes" "$(ctl availability web)" \
	'^NODE +READY +OF +OUTAGES +LONGEST +PLANNED +DEPENDENCY +FAILURE +UNKNOWN
web +[0-9.]+ % +[0-9.a-z ]+ +105 +[0-9.a-z]+ +70: [0-9.a-z ]+ +- +34: [0-9.a-z ]+ +1: [0-9.a-z ]+$'
is "a short time has less of them" "$(ctl availability --since 1ms --json web | jq '.nodes[0].causes.failure.outages')" 0
ctl availability nobody 2>/dev/null
is "a node without a ledger is not found" "$?" 4
sed -i '/^\[front\]/,/^requires/d' "$ini"
ok "a section is removed" ctl reload
is_removed() { [ "$(of front .outage | tail -n 1)" = removed ]; }
ok "and its ledger ends" wait_for 10 is_removed
stop_daemon
is "without a daemon the file is read up to its last line" \
	"$(ctl availability --history "$history" --json web | jq -r '.nodes[0].outages | last.cause')" planned
finish
