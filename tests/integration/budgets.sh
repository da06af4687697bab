#!/bin/bash
# The times of idle and busy services and of the nodes above them, and the grace of the parent manager.
. "${0%/*}/lib.sh"
requires_package python3 python3

# A guard that lasts until let_go; its command goes on even if the guard is revoked.
hold() { # NODE: on the daemon of $SWANSONG_SOCKET
	rm -f "$dir/$1.held"
	"$swansongctl" guard "$1" -- sh -c "echo \$\$ >'$dir/$1.held'; exec '$helpers/idle'" >/dev/null 2>&1 &
	cleanup_fn end_process $!
	wait_for 10 test -s "$dir/$1.held" || die "a guard is taken on $1"
}
let_go() { kill "$(cat "$dir/$1.held")"; } # NODE

has_pid() { test -s "$dir/$1"; } # NODE
is_down() { has_state "$1" down; } # NODE
killed_after() { # NODE REGEX: of the age that the log gives
	says "$log" "$said$1: killing pid [0-9]+ \(stubborn\), $2 after the stop"
}

# --- Idle and busy ---

{
	for node in idle busy turns live; do
		printf '[%s]\ncommand = %s/stubborn %s/%s\nstop-timeout = 400ms\n' "$node" "$helpers" "$dir" "$node"
		case $node in
		busy) echo 'drain-timeout = 3s' ;;
		turns) echo 'drain-timeout = infinity' ;;
		*) echo 'drain-timeout = 1h' ;;
		esac
	done
	printf '[done]\ncommand = %s/idle\n' "$helpers"
	printf '[late]\ncommand = %s/stubborn %s/late\nshutdown-timeout = 3s\nstop-timeout = infinity\nfinal = %s\n' \
		"$helpers" "$dir" "sh -c 'sleep 0.2; echo \$SWANSONG_RESULT \$SWANSONG_LATE >$dir/final'"
} >"$ini"
start_daemon
ctl wait --for ready --timeout 10s
for node in idle busy turns live late; do
	wait_for 10 has_pid "$node" || die "$node is there"
done

hold busy
began=$(now)
ctl stop busy --no-wait
ok "the log names the busy service and the time limit" \
	says "$log" "${said}busy: busy: 1 guard; waiting up to (3\.0|2\.[0-9])s"
next=$(field busy .service.next_usec)
within "the status shows the time of the kill" "$((next / 1000))" 1 3000
ctl stop idle --no-wait
ok "an idle one is killed at its stop-timeout" wait_for 10 is_down idle
ok "not before" killed_after idle '([4-9][0-9][0-9]ms|[0-9.]+s)'
is "a busy one outlives that" "$(state busy)" stopping
ok "until its drain-timeout" wait_for 20 is_down busy
within "not before" $(($(now) - began)) 2900 20000
is "the node waits for the guard" "$(field busy .state)" shutting_down
let_go busy
ok "and for nothing else" ctl wait busy --for complete --timeout 60s
is "it was by force" "$(field busy .forced)" true
is "the wait is logged once" "$(grep -c 'busy: busy: 1 guard' "$log")" 1

hold turns
ctl stop turns --no-wait
began=$(now)
is "without an end there is no time of a kill" "$(field turns .service.next_usec)" null
wait_for 10 says "$log" 'turns: busy: 1 guard; waiting up to infinity' || die "it is waited for"
is "it is waited for" "$(state turns)" stopping
let_go turns
ok "when it becomes idle it has its stop-timeout" wait_for 10 is_down turns
within "all of it" $(($(now) - began)) 380 10000

hold "done"
ctl stop "done" --no-wait
ok "a service that ends is not waited for, busy or not" wait_for 10 is_down "done"
is "the node waits for its guard" "$(field "done" .state)" shutting_down
let_go "done"
ok "and for nothing else" ctl wait "done" --for complete --timeout 60s

sed -i 's/= 1h/= 600ms/' "$ini"
before=$(pid_of live)
ok "drain-timeout is changed by a reload" ctl reload
is "without a new process" "$(pid_of live)" "$before"
hold live
ctl stop live --no-wait
ok "and counts" wait_for 10 is_down live
ok "at once" killed_after live '([6-9][0-9][0-9]ms|[0-9.]+s)'
let_go live

began=$(now)
ok "a budget is enough for all" by_force ctl stop late --timeout 60s
within "with the final action" $(($(now) - began)) 1900 15000
is "and learns of it" "$(cat "$dir/final")" "forced late"
ok "the kill left it its share" killed_after late '(2\.[0-9]|3\.[0-9]|[4-9]\.[0-9])s'
ok "and the log reports it" says "$log" 'late: the shutdown-timeout of 3.0s has expired; the final action has time left'
stop_daemon
is "none of this was in the end of the root" "$status" 0

# --- A group that is started again before it has ended ---

# At once, so that nothing of the budget is spent in between.
stop_and_start() { # NODE
	python3 - "$socket" "$1" <<-'PYTHON'
	import json, socket, sys
	s = socket.socket(socket.AF_UNIX)
	s.connect(sys.argv[1])
	parameters = {"node": sys.argv[2], "wait": False}
	calls = [{"method": "io.swansong." + name, "parameters": parameters} for name in ("Stop", "Start")]
	s.sendall(b"".join(json.dumps(call).encode() + b"\0" for call in calls))
	answers = b""
	while answers.count(b"\0") < 2:
	    answers += s.recv(10000) or sys.exit("the daemon has closed the connection")
	PYTHON
}

config <<END
[group]
shutdown-timeout = 1s
[group/hung]
command = $helpers/idle
post-stop = $helpers/stubborn $dir/post-stop
stop-timeout = 10min
END
start_daemon
ctl wait --for ready --timeout 10s
before=$(pid_of group/hung)
began=$(now)
stop_and_start group
wait_for 10 has_pid post-stop || die "its post-stop hangs"
is "a service that is stopping is killed when the budget of its group is spent" \
	"$(timeout 60 "$swansongctl" wait group --for ready && echo up)" "group: ready
up"
within "not before" $(($(now) - began)) 900 30000
ok "it is named" says "$log" 'group/hung: killing post-stop, pid [0-9]+ \(stubborn\)'
ok "and it is another process that is up" not test "$(pid_of group/hung)" = "$before"
rm "$dir/post-stop"
stop_daemon 20

config <<END
[group]
shutdown-timeout = 1s
[group/db]
command = $helpers/stubborn $dir/db
post-stop = sh -c 'echo begun >>$dir/swept; sleep 0.3; echo over >>$dir/swept'
[group/web]
command = $helpers/idle
requires = group/db
END
start_daemon
ctl wait --for ready --timeout 10s
wait_for 10 has_pid db || die "it is deaf"
mkdir "$dir/group"
hold group/web
stop_and_start group
ok "it comes up again" timeout 60 "$swansongctl" wait group --for ready
# The guard that the group waits for is revoked at that time, too, so either comes first.  The age in the log
# is that of the service's own stop, which a busy machine begins later than that of the group.
ok "after it was killed with the budget" killed_after group/db '(9[0-9][0-9]ms|[1-9][0-9.]*s)'
is "and the post-stop has its time" "$(tr '\n' ' ' <"$dir/swept")" "begun over "
let_go group/web
rm "$dir/db"
stop_daemon 20

# --- No budget is waited out needlessly ---

for ((i = 0; i < 200; i++)); do
	printf '[s%d]\ncommand = %s/idle\n' "$i" "$helpers"
	# A chain, and ten layers.
	if ((i > 0 && i < 100)); then echo "requires = s$((i - 1))"; fi
	if ((i >= 110)); then echo "after = s$((i - 10)) s$((i - 10 - i % 10))"; fi
done | sed 's/\(after = \(s[0-9]*\)\) \2$/\1/' >"$ini"
start_daemon
ok "200 services are up" ctl wait --for ready --timeout 60s
# As many children, one after the other: the time of these on this machine.
began=$(now)
for ((i = 0; i < 200; i++)); do
	env true
done
usual=$(($(now) - began))
began=$(now)
stop_daemon 120
within "they end in order, without a pause" $(($(now) - began)) 0 $((10 * usual > 5000 ? 10 * usual : 5000))
is "gracefully" "$status" 0

# --- A budget above ---

config <<END
[swansong]
shutdown-timeout = 2s
[db]
command = $helpers/signal-log $dir/db
[web]
command = $helpers/stubborn $dir/web
drain-timeout = infinity
requires = db
END
start_daemon
ctl wait --for ready --timeout 10s
wait_for 10 has_pid web || die "web is there"
wait_for 10 says "$dir/db" ready || die "db hears its signal"
hold web
began=$(now)
kill -TERM "$daemon"
await_daemon 20
within "a budget above cuts the longest drain-timeout" $(($(now) - began)) 1000 15000
is "by force" "$status" 124
ok "the guard of the busy one is revoked" says "$log" 'web: revoking the guard of pid'
let_go web
ok "a requirement of a killed service is still asked to end" says "$dir/db" TERM
ok "and ended by itself" says "$log" 'db: killed by SIGTERM'

# --- A chain with guards on several nodes ---

config <<END
[swansong]
shutdown-timeout = 4s
[db]
command = $helpers/signal-log $dir/chain-db
stop-timeout = 1s
[app]
command = $helpers/signal-log $dir/chain-app
stop-timeout = 2s
requires = db
[front]
command = $helpers/idle
requires = app
END
start_daemon
ctl wait --for ready --timeout 10s
for node in app db; do wait_for 10 says "$dir/chain-$node" ready || die "$node hears its signal"; done
hold front
hold app
kill -TERM "$daemon"
await_daemon 20
is "guards on two of a chain are revoked" "$(grep -Ec '(front|app): revoking the guard of pid' "$log")" 2
for node in app db; do
	ok "$node is still asked to end" says "$dir/chain-$node" TERM
	ok "and ended by itself" says "$log" "$node: killed by SIGTERM"
done
let_go front
let_go app

# --- The grace of the parent manager ---

config <<END
[web]
command = sh -c 'env >$dir/env; exec $helpers/stubborn $dir/web'
stop-timeout = 1h
END
rm "$dir/web"
SWANSONG_GRACE=3s start_daemon
ok "the limit of a shutdown is logged at the start" \
	says "$log" 'shutdown limited to 2.0s: the grace of 3.0s less a margin is below the shutdown-timeout of 1min 30s'
wait_for 10 has_pid web || die "web is there"
ok "services do not have the variable" not says "$dir/env" SWANSONG_GRACE
began=$(now)
kill -TERM "$daemon"
await_daemon 20
within "a margin of the grace is kept" $(($(now) - began)) 1900 15000
is "by force" "$status" 124
ok "the log gives the reason" says "$log" 'root: the grace of 3.0s less a margin has expired'

rm "$dir/web"
SWANSONG_GRACE=1h start_daemon --grace 600ms
wait_for 10 has_pid web || die "web is there"
began=$(now)
stop_daemon 20
within "the option goes before the variable" $(($(now) - began)) 380 15000
is "by force, too" "$status" 124
SWANSONG_GRACE=30 "$swansongd" -c "$ini" -s none 2>"$dir/refused"
is "a grace without a unit is refused" "$?" 78
like "with the values that are allowed" "$(cat "$dir/refused")" "SWANSONG_GRACE: invalid value '30': expected a duration, for example 10s"
"$swansongd" -c "$ini" -s none --grace 0 2>"$dir/refused"
is "a grace of 0 is refused, too" "$?" 2
like "likewise" "$(cat "$dir/refused")" "--grace: invalid value '0': expected a duration"

# --- A time that only the stop makes known ---

config <<END
[db]
command = $helpers/signal-log $dir/asked-db
stop-timeout = 1s
[web]
command = $helpers/stubborn $dir/web
stop-timeout = 1h
requires = db
END
rm -f "$dir/web"
start_daemon
ctl wait --for ready --timeout 10s
wait_for 10 has_pid web || die "web is there"
wait_for 10 says "$dir/asked-db" ready || die "db hears its signal"
ctl shutdown --grace 0 2>"$dir/refused"
is "a grace of nothing is refused" "$?" 2
ctl shutdown --grace 1h --no-wait
within "a long grace leaves the budget of the configuration" $(($(field web .deadline_usec) / 1000)) 60000 90000
began=$(now)
ctl shutdown --grace 6s --no-wait
ctl shutdown --grace 2min --no-wait
await_daemon 20
within "a shorter grace shortens a shutdown in progress" $(($(now) - began)) 3900 15000
is "by force" "$status" 124
ok "the log gives the time limit" says "$log" 'root: shutdown limited to 5.0s from now: by request'
is "a longer grace changes nothing" "$(grep -c 'root: shutdown limited to .* from now' "$log")" 1
ok "a service behind the late one is still asked to end" says "$dir/asked-db" TERM
ok "and ends by itself" says "$log" 'db: killed by SIGTERM'
ok "only the late one is killed" not says "$log" "${said}db: killing"

# --- More time from the parent manager ---

listeners=()
supervise() { # NAME: the messages of a daemon of $dir/NAME.ini to its parent manager are in $dir/NAME.sent
	python3 "$top_srcdir/tests/helpers/notify-log.py" "$dir/$1.notify" "$dir/$1.sent" &
	listeners+=($!)
	cleanup_fn end_process $!
	wait_for 10 test -e "$dir/$1.sent" || die "the socket of the parent manager is there"
	NOTIFY_SOCKET=$dir/$1.notify "$swansongd" -c "$dir/$1.ini" -s "$dir/$1.socket" >>"$log" 2>&1 </dev/null &
	daemon=$!
	cleanup_fn end_process $!
	wait_for 10 says "$dir/$1.sent" READY=1 || die "it is ready"
	wait_for 10 has_pid "$1" || die "$1 is there"
}
extensions() { # NAME: the number of extensions after the stop and before 11 s from then
	awk '/STOPPING=1/ { stopping = 1; since = $1 } stopping && $2 ~ /^EXTEND/ && $1 < since + 11' \
		"$dir/$1.sent" | wc -l
}
printf '[hung]\ncommand = %s/stubborn %s/hung\nstop-timeout = 12s\n' "$helpers" "$dir" >"$dir/hung.ini"
printf '[work]\ncommand = %s/stubborn %s/work\nstop-timeout = 1s\ndrain-timeout = 12s\n' "$helpers" "$dir" >"$dir/work.ini"
supervise hung
hung=$daemon
supervise work
SWANSONG_SOCKET=$dir/work.socket hold work
kill -TERM "$hung" "$daemon"
for name in hung work; do
	ok "$name: more time is asked for at the stop" \
		wait_for 10 says "$dir/$name.sent" 'STOPPING=1 .*EXTEND_TIMEOUT_USEC=15000000'
done
ok "a hung one is ended at last" wait_for 30 gone "$hung"
is "no more time was asked for it" "$(extensions hung)" 0
ok "work goes on as long as its drain-timeout" wait_for 30 says "$log" 'work: killing pid'
ok "and is worth asking for more time" test "$(extensions work)" -ge 1
let_go work
await_daemon 20
for pid in "${listeners[@]}"; do
	end_process "$pid"
done
ok "nothing is left" wait_for 10 nobody_else
finish
