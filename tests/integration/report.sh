#!/bin/bash
# The report that a shutdown leaves, and the output of blame and plot for it.
. "${0%/*}/lib.sh"
requires_package python3 python3

report=$dir/report.json
of() { jq -r "$1" "$report"; }
of_node() { jq -r --arg path "$1" ".nodes[] | select(.path == \$path) | $2" "$report"; }
is_svg() { python3 -c 'import sys, xml.etree.ElementTree as e
root = e.parse(sys.argv[1]).getroot()
sys.exit(root.tag != "{http://www.w3.org/2000/svg}svg")' "$1"; }
plot() { ctl plot --report "$report" >"$dir/plot.svg" && is_svg "$dir/plot.svg"; }

holds() { [ "$(ctl guards held --json | jq '.guards | length')" = 1 ]; }
hold() { # WHY: a lease on the node held
	"$swansongctl" guard held --why "$1" -- sleep 60 >/dev/null 2>&1 &
	cleanup_fn end_process "$!"
	ok "a lease is held" wait_for 10 holds
}

# --- A clean shutdown ---

config <<END2
[swansong]
report = $report
[data/redis]
command = $helpers/idle
[web/nginx]
command = $helpers/idle
requires = data/redis
drain-delay = 200ms
post-stop = true
[empty]
END2
start_daemon
ok "all is ready" ctl wait --for ready --timeout 60s
ok "nothing is written while it runs" not test -e "$report"
ctl run empty/job -- "$helpers/idle"
ok "a transient service is up" wait_for 10 has_state empty/job up
ctl shutdown --reason "the end" >/dev/null
ok "a client that waited for the end finds it" test -s "$report"
await_daemon 10
is "the end is clean" "$status" 0
is "nothing is left beside it" "$(cd "$dir" && echo report*)" "report.json"
is "the report is one object" "$(of 'type + " " + (.format | tostring)')" "object 1"
is "it has the result" "$(of '"\(.forced) \(.status) \(.lost)"')" "false 0 0"
like "the client and the reason" "$(of .cause)" '^asked by pid [0-9]+, uid 0: the end$'
is "when" "$(of '.time_usec / 1e6 | floor > 1700000000')" true
is "all nodes are in it" "$(of '[.nodes[].path] | sort | join(" ")')" \
	" data data/redis empty empty/job web web/nginx"
is "parents are before their children" \
	"$(of '[.nodes[].path] | index("web") < index("web/nginx")')" true
is "the states of a service" "$(of_node web/nginx '[.states[].state] | join(" ")')" \
	"up draining waiting stopping closing down"
is "its delay has its time" \
	"$(of_node web/nginx '.states[2].at_usec - .states[1].at_usec | . >= 200000 and . < 20000000')" true
is "the node that another one waited for" "$(of_node data/redis '.after | join(" ")')" web/nginx
is "and the wait of it" \
	"$(of '[.nodes[] | select(.path == "data/redis" or .path == "web/nginx")] | .[0].states[-2].at_usec >= .[1].states[-2].at_usec')" true
is "the process of each is a guard" \
	"$(of_node data/redis '.guards[] | [.kind, .end, .uid, .taken_usec < 0, .gone_usec > 0] | map(tostring) | join(" ")')" \
	"process ended 0 true true"
is "so is a post-stop" "$(of_node web/nginx '.guards[1] | "\(.kind) \(.why) \(.command)"')" \
	"action post-stop true"
is "the root ends last" "$(of '[.nodes[].complete_usec] | max == (.[0])')" true
is "and the time of the end" "$(of '.total_usec == .nodes[0].complete_usec')" true

ok "it can be drawn" plot
is "with a lane for each" "$(grep -c '<title>[a-z/]*</title>[a-z]*</text>' "$dir/plot.svg")" 7
blame=$(ctl blame --report "$report")
like "blame shows a clean end" "$blame" 'root: complete in .*, exit status 0'
like "but for the time" "$blame" $'\n[0-9.]+m?s +web/nginx +[0-9.]+m?s +(-|[0-9.]+m?s) +([2-9][0-9][0-9]ms|[0-9.]+s) '
like "the end is traced back" "$blame" 'The end waited for:.*data/redis.*web/nginx'
is "as JSON it is the file" "$(ctl blame --json --report "$report" | jq -S -c .)" "$(jq -S -c . "$report")"
is "a single node can be selected" "$(ctl blame data --report "$report" | grep -c '/')" 1
ctl blame nobody --report "$report" 2>/dev/null
is "a missing node cannot" "$?" 4

# --- A forced one, over the one before ---

config <<END2
[swansong]
report = $report
shutdown-timeout = 20s
[stubborn]
command = $helpers/stubborn
stop-timeout = 300ms
[held]
shutdown-timeout = 500ms
END2
: >"$log"
start_daemon
hold 'nightly <dump> & "more"'
ok "stubborn is up" wait_for 10 has_state stubborn up
kill -TERM "$daemon"
blocking() { ctl guards --blocking 2>/dev/null; }
stops() { [[ $(blocking) =~ KILL.IN ]]; }
ok "the guards that are still held are reported" wait_for 10 stops
await_daemon 20
is "something was forced" "$status" 124
is "the report marks it as forced" "$(of '"\(.forced) \(.status) \(.signal) \(.cause)"')" "true 124 SIGTERM SIGTERM"
is "with the nodes that were late" "$(of '[.nodes[] | select(.late_usec) | .path] | sort | join(" ")')" "held stubborn"
is "a service was killed" "$(of_node stubborn '[.states[].state] | join(" ")')" "up waiting stopping killing down"
is "and so ended its guard" "$(of_node stubborn '.guards[0].end')" killed
is "the lease was revoked" "$(of_node held '.guards[0] | "\(.kind) \(.end) \(.why) \(.uid)"')" \
	'lease revoked nightly <dump> & "more" 0'
like "the lease's holder is known" "$(of_node held .guards[0].pid)" '^[0-9]+$'
is "it has lasted as long as the budget" "$(of_node held '.complete_usec >= 500000')" true
ok "it can be drawn" plot
ok "text in the picture is escaped" grep -q 'nightly &lt;dump&gt; &amp;' "$dir/plot.svg"
like "both are blamed" "$(ctl blame --report "$report")" 'held .*nightly <dump>.*revoked'
like "and the killed" "$(ctl blame --report "$report")" 'stubborn +[0-9.]+m?s +(-|[0-9.]+ms) +- +[0-9]+ms +[0-9.]+m?s'

# --- The report of a shutdown in progress ---

# Of another user, where there is one.
name=root user=0 line=
! is_root || name=nobody user=65534 line='user = nobody'
config <<END2
[swansong]
report = $report
shutdown-timeout = 60s
[stubborn]
command = $helpers/stubborn
stop-timeout = 50s
$line
[held]
END2
: >"$log"
start_daemon
hold $'dump\nMAINPID=1'
ok "stubborn is up" wait_for 10 has_state stubborn up
ok "a wait for the end of what is up names no node" env TERM=xterm python3 "$top_srcdir/tests/helpers/terminal.py" \
	"$swansongctl" wait <<-END2
	expect root: ready, waited for [0-9.]+m?s[^,]*\n
	send \\x03
	end 130
	END2
kill -TERM "$daemon"
ok "the stop is under way" wait_for 10 stops
held=$(ctl guards --blocking)
like "the process, its user, and the time of its kill" "$held" \
	'stubborn +process +[0-9.]+m?s +(4[0-9]\.[0-9]|50\.0)s +.*stubborn, pid [0-9]+, '$name
like "the lease, its holder, and the time of its end" "$held" \
	'held +lease +[0-9.]+m?s +(5[0-9]\.[0-9]s|1min 0s) +swansongctl, pid [0-9]+, root, "dump.x0aMAINPID=1"'
kill -TERM "$daemon"
status_line() { grep 'SIGTERM again; ShuttingDown: ' "$log"; }
ok "the status line has it all" wait_for 10 status_line
like "the process, its user, and the kill" "$(status_line)" \
	'stubborn \(pid [0-9]+ stubborn, uid '$user', [0-9.]+m?s, kill in (4[0-9]\.[0-9]|50\.0)s\)'
like "and the lease" "$(status_line)" \
	'guard swansongctl "dump\?MAINPID=1" on held \(pid [0-9]+, uid 0, [0-9.]+m?s, kill in (5[0-9]\.[0-9]s|1min 0s)\); kill in (5|1min)'
ok "a wait at a terminal shows it, too" env TERM=xterm python3 "$top_srcdir/tests/helpers/terminal.py" \
	"$swansongctl" wait <<-END2
	expect root: shutting down for .*2 guards; kill in (5|1min)
	expect held.*lease.*kill in (5|1min)
	expect stubborn.*process.*kill in (4|50)
	send \\x03
	end 130
	END2
ctl shutdown --force >/dev/null
await_daemon 20

# --- Forced at once ---

start_daemon
hold again
ctl shutdown --force >/dev/null
await_daemon 20
is "the report has the revoked guard" "$(of_node held '.guards[0] | "\(.end) \(.why)"')" "revoked again"

# --- Valid and invalid paths ---

quick() { # PATH [LINE]: a daemon with that report, which is stopped at once
	config <<-END2
	[swansong]
	report = $1
	history = none
	[idle]
	command = $helpers/idle
	END2
	: >"$log"
	start_daemon
	stop_daemon 20
}
told() { grep -c 'cannot write the report' "$log"; }

quick none
is "none is none" "$status $(told)" "0 0"

echo precious >"$dir/precious"
ln -s "$dir/precious" "$dir/link"
ln -s "$dir/precious" "$dir/link.tmp"
quick "$dir/link"
is "a link is replaced, not followed" "$status $(cat "$dir/precious") $(stat -c %F "$dir/link")" "0 precious regular file"
ok "nor is one where it is written" not test -e "$dir/link.tmp" -o -L "$dir/link.tmp"
is "any user may read it" "$(stat -c %a "$dir/link")" 644

mkfifo "$dir/pipe" "$dir/pipe.tmp"
quick "$dir/pipe"
is "a pipe does not hold up the end" "$status $(stat -c %F "$dir/pipe")" "0 regular file"

mkdir "$dir/directory"
quick "$dir/directory"
is "a directory is none" "$status $(told)" "0 1"
ok "and nothing is left" not test -e "$dir/directory.tmp"
quick "$dir/nowhere/report.json"
is "nor is a file in none" "$status $(told)" "0 1"

mkdir "$dir/disk"
if mount -t tmpfs -o size=64k tmpfs "$dir/disk" 2>/dev/null; then
	cleanup_fn umount "$dir/disk"
	echo old >"$dir/disk/report.json"
	dd if=/dev/zero of="$dir/disk/filler" bs=4k 2>/dev/null
	quick "$dir/disk/report.json"
	is "a full disk is one line in the log" "$status $(told)" "0 1"
	is "and the old report stays whole" "$(cat "$dir/disk/report.json")" old
	ok "nothing is left beside it" not test -e "$dir/disk/report.json.tmp"
	rm "$dir/disk/filler"
	mount -o remount,bind,ro "$dir/disk"
	quick "$dir/disk/report.json"
	is "so is one that cannot be written" "$status $(told)" "0 1"
	is "which has the old one, too" "$(cat "$dir/disk/report.json")" old
else
	skip "a full disk" "machine: refuses to mount"
fi

# A limit on the size of files ends a process that writes more, unless it ignores SIGXFSZ.
config <<END2
[swansong]
report = $dir/limited
[idle]
command = $helpers/idle
END2
: >"$log"
launch bash -c '(ulimit -f 0; exec "$@" 2>&1) | cat' - "$swansongd" -v -c "$ini" --socket "$socket"
ok "a daemon that may write no files runs" wait_for 10 ctl_answers
ok "and ends" ctl shutdown --timeout 60s
await_daemon 10
is "with a line" "$(told)" 1

# --- A reload ---

rm -f "$report"
config <<END2
[idle]
command = $helpers/idle
END2
: >"$log"
start_daemon
config <<END2
[swansong]
report = $report
[idle]
command = $helpers/idle
END2
is "a reload shows the change" \
	"$(ctl reload --dry-run --json | jq -r '.changes[].keys[] | "\(.key) \(.from) \(.to) \(.apply)"')" \
	"report null $report live"
ok "it is reloaded" ctl reload
ok "it counts now" says "$log" 'report has changed, effective now'
stop_daemon
is "and it is written there" "$(of_node idle '"\(.states[-1].state) \(.guards | length)"')" "down 1"

# --- Many ---

for ((i = 0; i < 497; i++)); do
	printf '[a/b%d]\ncommand = %s/idle\n' "$i" "$helpers"
done >"$dir/many"
config <<END2
[swansong]
report = $report
[last]
command = $helpers/idle
requires = a/b7
drain-delay = 50ms
$(cat "$dir/many")
END2
: >"$log"
start_daemon
ok "five hundred become ready" ctl wait --for ready --timeout 60s
stop_daemon 60
is "they end well" "$status" 0
is "all are in the report" "$(of '"\(.nodes | length) \(.lost)"')" "500 0"
is "with their states and guards" \
	"$(of '[.nodes[] | select(.service and .states[-1].state == "down" and .guards[0].end == "ended")] | length')" 498
ok "they can be drawn" plot
ok "and blamed" ctl blame --report "$report"
finish
