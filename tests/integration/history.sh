#!/bin/bash
# The history: a line for each end, also of a crash loop, a kill and a shutdown; rotated, and never waited for.
. "${0%/*}/lib.sh"

history=$dir/history.jsonl
ends() { jq -r "select(.total_usec) | $2" "$1"; } # FILE FILTER
of() { ends "$history" "select(.node == \"$1\") | $2"; } # NODE FILTER
has() { [ "$(of "$1" "$2" 2>/dev/null | wc -l)" -ge "$3" ]; } # NODE FILTER LINES
logger() { ps -e -o pid=,ppid=,comm= | awk -v d="$daemon" '$2 == d && $3 == "swansong-logger" { print $1; exit }'; }

# --- Ends of all kinds ---

config <<END2
[swansong]
report = $dir/report.json
[web]
command = $helpers/idle
[delayed]
command = $helpers/idle
drain-delay = 200ms
requires = web
post-stop = true
[stubborn]
command = $helpers/stubborn
stop-timeout = 300ms
[crash]
command = sh -c 'exit 3'
restart-delay = 10ms
restart-limit = none
[held]
command = $helpers/idle
[once]
command = true
type = oneshot
[idle]
command = $helpers/idle
autostart = no
END2
start_daemon
ok "stubborn is up" wait_for 10 has_state stubborn up
ok "the history is beside the report, and has each end of a crash loop" wait_for 20 has crash .why 3
is "with its reason" "$(of crash .why | sort -u)" "exited with status 3"
is "a oneshot has an end when it is done" "$(of once '"\(.why) \(.generation)"')" "exited with status 0 1"
ctl restart delayed >/dev/null
ok "so has a restart" wait_for 10 has delayed .why 1
like "which was requested" "$(of delayed .why)" '^asked by pid [0-9]+, uid 0$'
is "the time of each phase is there" \
	"$(of delayed '.phases | .delay_usec >= 200000 and (.waiting_usec // 0) < 100000 and .draining_usec == null and .stopping_usec > 0 and .closing_usec > 0')" true
is "and their sum is all of it" "$(of delayed '.total_usec - ([.phases[]] | add) | . >= 0 and . < 100000')" true
ctl stop stubborn >/dev/null 2>&1
ok "a kill is there" wait_for 10 has stubborn 'select(.forced)' 1
is "when the stop-timeout had expired" "$(of stubborn '.phases | .stopping_usec >= 300000 and .killing_usec > 0')" true
ctl stop idle >/dev/null
is "the stop of a service that is down is no end" "$(of idle .why)" ""

holds() { [ "$(ctl guards held --json | jq '.guards | length')" = "$1" ]; }
"$swansongctl" guard held --why 'the "nightly" dump' -- sleep 60 >/dev/null 2>&1 &
lease=$!
cleanup_fn end_process "$lease"
ok "a lease is held" wait_for 10 holds 2
ctl stop held --no-wait
ok "the service ends" wait_for 10 has_state held down
end_process "$lease"
ok "the end comes with the lease" wait_for 10 has held .why 1
is "which is named" "$(of held '.held_by[0] | "\(.kind) \(.who) \(.why) \(.usec > 0)"')" \
	'lease swansongctl the "nightly" dump true'
is "and kept it busy" "$(of held '.phases.draining_usec > 0')" true

stop_daemon
is "the shutdown has its line" "$(of "" '"\(.why) \(.forced) \(.total_usec > 0) \(.phases)"')" "SIGTERM null true null"
is "the services in it have theirs" "$(of web '.why')" SIGTERM
is "the wait for a dependent is in the phases" "$(of web '.phases.waiting_usec >= 200000')" true
is "the report has no part of ends before it" \
	"$(jq -r '"\(.lost) \([.nodes[] | select(.path == "held" or .path == "stubborn")] | length)"' "$dir/report.json")" "0 0"
is "any user may read it" "$(stat -c %a "$history")" 644

# --- Figures that swansongctl computes from it ---

table=$(ctl history --history "$history")
like "the history is a table" "$table" 'NODE +ENDS +P50 +P99 +LONGEST +FORCED +WHY'
like "with the most frequent reasons" "$table" 'crash +[0-9]+ .* [0-9]+ exited with status 3'
like "requests count together" "$table" 'delayed +2 .* 1 SIGTERM, 1 asked|delayed +2 .* 1 asked, 1 SIGTERM'
like "and the number of forced ends" "$table" 'stubborn +1 +[0-9.]+ms +[0-9.]+ms +[0-9.]+ms +1 '
like "the root is one of them" "$table" 'root +1 .*1 SIGTERM'
is "some nodes can be asked for" "$(ctl history held 'cr*' --history "$history" --json | jq -r '[.nodes[].node] | join(" ")')" "crash held"
ctl history nobody --history "$history" 2>/dev/null
is "others are not there" "$?" 4

# --- Where it is, and where it is not ---

simple() { # LINE...
	{ printf '[swansong]\n'; printf '%s\n' "$@"; printf '[web]\ncommand = %s/idle\n' "$helpers"; } | config
}
rm "$history"
simple
start_daemon
stop_daemon
ok "without a report there is none" not test -e "$history"
simple "report = $dir/report.json" 'history = none'
start_daemon
ok "none is none" not test -e "$history"
simple "history = $dir/made/ends"
ok "a reload changes it" ctl reload
ok "web is restarted" ctl restart web
ok "its end is in the other file, and the directory is made" wait_for 10 test -s "$dir/made/ends"
ctl logs -f / >"$dir/followed" &
follower=$!
cleanup_fn end_process "$follower"
ok "web is restarted again" ctl restart web
stop_daemon
wait "$follower"
ok "no reader of logs sees its lines" not grep -q total_usec "$dir/followed"
is "none is lost" "$(ends "$dir/made/ends" .node | tr '\n' ' ')" "web web web  "

# --- Advice ---

{
	printf 'garbage\n\377\n{"node":"db"}\n'
	for i in {1..40}; do
		killed=
		[ $((i % 20)) != 0 ] || killed=',"killing_usec":300'
		printf '{"time_usec":%d,"node":"db","generation":%d,"why":"SIGTERM","total_usec":9000000,"phases":{"stopping_usec":%d%s}}\n' \
			"$i" "$i" "$((8000000 + i * 50000))" "$killed"
		printf '{"time_usec":%d,"node":"app","generation":%d,"why":"SIGTERM","total_usec":4000000,"phases":{"draining_usec":4000000}}\n' "$i" "$i"
		[ "$i" -gt 19 ] || printf '{"time_usec":%d,"node":"few","generation":1,"why":"x","total_usec":1,"phases":{"stopping_usec":10000000,"killing_usec":1}}\n' "$i"
	done
	printf '{"time_usec":1,"no'
} >"$history"
for name in db app few; do printf '[%s]\ncommand = %s/idle\n' "$name" "$helpers"; done >"$dir/sections"
{ printf '[swansong]\nhistory = %s\n' "$history"; cat "$dir/sections"; } | config
want="[app]
drain-timeout = 10s ; is 5min: p99 4.00s of 40 ends, none killed; 4.00s * 1.5 = 6.00s
[db]
stop-timeout = 15s ; is 10s: p99 10.00s of 40 ends, 2 killed; 10.00s * 1.5 = 15.00s"
is "without a daemon advice is for files" "$(ctl advise --config "$ini" --history "$history" 2>/dev/null)" "$want"
start_daemon
is "with one it is for its settings, from its history" "$(ctl advise 2>/dev/null)" "$want"
is "as JSON too" "$(ctl advise db --json 2>/dev/null | jq -c '.advice[] | [.node, .key, .kind, .ends, .killed, .proposed_usec]')" \
	'["db","stop-timeout","raise",40,2,15000000]'
like "lines that are not of a history are counted" "$(ctl advise 2>&1)" 'skipped 4 lines: not of a history'
sed -i '/^\[db\]/a stop-timeout = 15s ; is 10s: p99 10.00s of 40 ends, 2 killed; 10.00s * 1.5 = 15.00s' "$ini"
sed -i '/^\[app\]/a drain-timeout = 10s ; is 5min' "$ini"
ok "the lines can be pasted" ctl reload
like "then there is no advice" "$(ctl advise 2>/dev/null)" 'no advice: the timeouts of 2 nodes with 20 ends or more fit'
stop_daemon
config <<END2
[db]
command = $helpers/idle
[app]
command = $helpers/idle
requires = db
END2
plan() { ctl plan --config "$ini" --history "$history" "$@" 2>/dev/null; }
expected=$(plan --from-history --grace 13200ms)
like "a plan has the usual times beside the worst" "$expected" $'\n1 +app +- +4.0s +0ms .*\n2 +db +app +9.0s +11.0s '
like "and is drawn from the history" "$expected" 'by past ends: p50 13\.[0-9]s, p99 1[34]\.[0-9]s; fits 13.2s in [5-7][0-9][0-9] of 1000 draws$'
is "the same each time" "$(plan --from-history --grace 13200ms)" "$expected"
is "all draws fit a grace that is long enough" "$(plan --from-history --grace 15s --json | jq -c '.expected | [.draws, .fitting, .unknown]')" \
	"[1000,1000,0]"
is "without the option there is no such line" "$(plan | grep -c 'past ends')" 0
printf '[new]\ncommand = %s/idle\nrequires = app\n' "$helpers" >>"$ini"
like "a step with fewer ends has its worst case" "$(plan --from-history)" \
	'by past ends: p50 2[34].*1 of 3 steps have fewer than 20 ends: worst case'
rm "$history"*

# --- Trouble ---

simple "history = $history"
start_daemon
for _ in {1..10}; do ctl restart web >/dev/null || break; done
kill -KILL "$(logger)"
for _ in {1..10}; do ctl restart web >/dev/null || break; done
kill -KILL "$daemon"
await_daemon 10
for pid in $(pgrep -x idle); do end_process "$pid"; done
logger_is_gone() { ! pgrep -f swansong-logger >/dev/null; }
ok "the logger ends after a killed daemon and its services" wait_for 20 logger_is_gone
is "each line is there, in spite of a killed logger and daemon" "$(ends "$history" .generation | tr '\n' ' ')" \
	"$(seq 20 | tr '\n' ' ')"

head -c 2097100 /dev/zero | tr '\0' '\n' >"$history"
start_daemon
ok "web is restarted" ctl restart web
stop_daemon
is "at 2 MB it is rotated, and the older half dropped" "$(find "$dir" -name 'history.jsonl.*' | wc -l)" 1
ok "the file begins again" test "$(stat -c %s "$history")" -lt 10000

: >"$log"
rm -f "$history"*
SWANSONG_LOGGER=/nonexistent start_daemon
ctl restart web >/dev/null
stop_daemon
is "without a logger the missing lines are logged once" "$(grep -c 'history: lines are missing in' "$log")" 1

{
	printf '[swansong]\nhistory = %s\n' "$history"
	for ((i = 0; i < 1000; i++)); do
		printf '[many/a%d]\ncommand = %s/idle\n' "$i" "$helpers"
	done
} | config
start_daemon
ok "a thousand services are ready" ctl wait --for ready --timeout 60s
ctl restart many/a0 >/dev/null
wait_for 10 test -s "$history"
# The pipe holds what a logger that gets no processor has not read.
logger=$(logger)
kill -STOP "$logger"
kill -TERM "$daemon"
wait_for 30 not pgrep -x idle
kill -CONT "$logger"
await_daemon 60
is "each of their ends is there" "$(of many/a1 .why; ends "$history" .node | wc -l)" "$(printf 'SIGTERM\n1002')"

mkdir "$dir/disk"
if mount -t tmpfs -o size=64k tmpfs "$dir/disk" 2>/dev/null; then
	cleanup_fn umount -l "$dir/disk"
	head -c 100000 /dev/zero >"$dir/disk/fill" 2>/dev/null
	simple "history = $dir/disk/history"
	: >"$log"
	start_daemon
	ctl restart web >/dev/null
	ok "a full disk is a line in the log" wait_for 10 says "$log" "log: cannot write $dir/disk/history: No space"
	ok "and the daemon goes on" ctl restart web
	before=$(now)
	stop_daemon 20
	within "to an end that does not wait for the disk" "$(($(now) - before))" 0 5000
	is "which is clean" "$status" 0
	ok "nor does the logger" wait_for 10 logger_is_gone
else
	skip "a full disk" "machine: refuses to mount"
fi
finish
