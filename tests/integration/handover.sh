#!/bin/bash
# A hand-over: the next run of a service begins beside the present one, on the same socket.  The present one ends when
# its work is done, and goes on if the next one does not become ready.
. "${0%/*}/lib.sh"
. "${0%/*}/handover-lib.sh"

patience=1min # only where a start fails it is short, as a start on a busy machine may take a second
tree() { # VALUE: a changed setting
	cat <<-END
	[swansong]
	state = $dir/state
	[db]
	command = $helpers/idle
	[web]
	[web/app]
	command = $helpers/slow-server serve $dir/word
	listen = tcp:127.0.0.1:8080
	ready = notify
	handover = yes
	requires = db
	start-timeout = $patience
	drain-timeout = 1min
	environment = VALUE=$1
	[front]
	command = $helpers/idle
	requires = web
	[checked]
	command = $helpers/idle
	listen = tcp:127.0.0.1:8081
	handover = yes
	health = exec:test -e $dir/well
	health-interval = 50ms
	health-retries = 2
	on-unhealthy = restart
	END
}
has_node() { ctl status --json | jq -e --arg path "$1" '.nodes[] | select(.path == $path)' >/dev/null; } # NODE
has_no_node() { ! has_node "$1"; }                     # NODE
runs_aside() { ctl status --json | jq -r '.nodes[].path' | grep -c 'app~'; }
has_runs_aside() { [ "$(runs_aside)" = "$1" ]; } # NUMBER
# Until it has read its signal, the earlier run may take a connection.
is_answered_by() { # PID
	ask 1 "$dir/fast"
	wait "$asked"
	[ "$(server "$dir/fast")" = "$1" ]
}
has_no_process() { [ "$(pgrep -cx slow-server)" = 0 ]; }
# Until it is sure which run has it, the question is put again.
hold() { # PID FILE: a request that this run has, until answer()
	for _ in {1..50}; do
		ask_until_answer "$2"
		wait_for 1 is_taken_by "$1" && return
		answer "$asking"
		wait "$asked"
	done
	return 1
}

echo ready >"$dir/word"
touch "$dir/well"
tree one | config
start_daemon
ok "the tree is ready" ctl wait --for ready --timeout 60s
front=$(pid_of front)

# --- A request in progress, and a restart ---

old=$(pid_of web/app)
ok "a run has a request" hold "$old" "$dir/slow"
slow=$asked connection=$asking
ok "a restart does not wait for it" ctl restart web/app
new=$(pid_of web/app)
is "and the service has another process" "$([ "$new" != "$old" ] && echo yes)" yes
ok "the earlier run goes on" kill -0 "$old"
is "as a node beside the service" "$(field 'web/app~1' .service.pid)" "$old"
is "which is stopping" "$(state 'web/app~1')" stopping
like "the status of the service names it" "$(ctl status web/app)" 'generation 1 is finishing'
like "and so does that of all" "$(ctl status)" 'web/app~1|app~1'
ok "plan shows it" says <(ctl plan) 'app~1'
like "and the guards" "$(ctl guards)" "web/app~1"
is "the group is ready all the time" "$(field web .ready)" true
ok "a new request has the new run" wait_for 5 is_answered_by "$new"
answer "$connection"
wait "$slow"
is "the one in progress is answered by the run that had it" "$(server "$dir/slow")" "$old"
ok "which ends then, and its node is gone" wait_for 5 has_no_node 'web/app~1'
is "a service that requires it was not touched" "$(pid_of front)" "$front"
like "the log has the steps" "$(grep -c -E 'web/app: hand-over: asked|web/app~2: (started|ready)|web/app~1: shutting down: generation 2 is ready' "$log")" 4

# --- Under load ---

"$helpers/slow-server" load 8080 4 500 50 >"$dir/load" &
load=$!
for _ in {1..10}; do
	ctl restart web/app >>"$dir/out" 2>&1 || echo failed >>"$dir/load"
done
kill "$load" && wait "$load"
like "ten restarts under load lose no request" "$(cat "$dir/load")" '^short=[0-9]+ long=[0-9]+ failed=0 servers=[0-9]+'
ok "all earlier runs end" wait_for 10 has_runs_aside 0
is "a service that requires it was not touched" "$(pid_of front)" "$front"

# --- A successor that fails ---

old=$(pid_of web/app)
generation=$(field web/app .generation)
patience=1s
tree one | config
ok "a reload gives a start less time" ctl reload
for word in exit silent; do
	echo "$word" >"$dir/word"
	"$swansongctl" restart web/app >"$dir/out" 2>&1
	is "$word: a restart fails" "$?" 1
	like "$word: with the reason" "$(cat "$dir/out")" "web/app: no hand-over: generation $generation goes on: generation $((generation + 1)): "
	is "$word: the run goes on" "$(pid_of web/app) $(state web/app) $(field web/app .generation)" "$old up $generation"
	ok "$word: and nothing else is there" wait_for 5 has_no_node "web/app~$((generation + 1))"
done
like "the reason is that of the run" "$(cat "$dir/out")" 'start-timeout|not ready'
is "a service that requires it was not touched" "$(pid_of front)" "$front"
ask 1 "$dir/fast"
wait "$asked"
is "and it answers" "$(server "$dir/fast")" "$old"

# --- An unhealthy one ---

old=$(pid_of checked)
rm "$dir/well"
ok "an unhealthy service hands over" wait_for 10 says "$log" 'checked~1: shutting down: generation 2 is ready'
touch "$dir/well"
is_healthy() { is_up_anew checked "$old" && [ "$(field checked .service.health)" = healthy ]; }
ok "to one that is healthy" wait_for 10 is_healthy

# --- A change of its settings ---

old=$(pid_of web/app)
tree two | config
: >"$log"
ok "a reload with a successor that fails" ctl reload
ok "leaves the run" wait_for 10 says "$log" "no hand-over: generation $generation goes on: .*start-timeout"
is "as it is" "$(pid_of web/app)" "$old"
is "and outdated" "$(field web/app .service.outdated)" true
echo ready >"$dir/word"
ok "the next restart" wait_for 20 ctl restart web/app # which has a second
is "is one with the new settings" "$(tr '\0' '\n' </proc/"$(pid_of web/app)"/environ | grep ^VALUE=)" VALUE=two
is "and not outdated" "$(field web/app .service.outdated)" null
is "a service that requires it was not touched" "$(pid_of front)" "$front"
patience=1min
tree three | config
echo later >"$dir/word"
old=$(pid_of web/app)
ctl reload >"$dir/out" 2>&1 &
reload=$!
ok "a reload begins a successor" wait_for 5 has_runs_aside 1
tree four | config
kill -HUP "$daemon"
ok "another reload while it starts ends that" wait_for 5 says "$log" 'app~[0-9]+: shutting down: section changed'
echo ready >"$dir/word"
ok "and one with the last settings takes over" wait_for 10 is_up_anew web/app "$old"
wait "$reload"
is "in the end" "$(tr '\0' '\n' </proc/"$(pid_of web/app)"/environ | grep ^VALUE=)" VALUE=four

# --- A stop of the service, and a shutdown, in the middle ---

echo later >"$dir/word"
ok "a restart that waits for its successor" ctl restart --no-wait web/app
ok "begins one" wait_for 5 has_runs_aside 1
ok "a stop ends both" ctl stop web/app
ok "at once" wait_for 5 has_runs_aside 0
is "and it stays down" "$(state web/app)" down
echo ready >"$dir/word"
ok "a start" ctl start web/app

old=$(pid_of web/app)
ok "a run has a request that takes too long" hold "$old" "$dir/slow"
slow=$asked
ok "and is restarted" ctl restart web/app
hold "$(pid_of web/app)" "$dir/fast" || die "the new run has a request"
fast=$asked connection=$asking
echo later >"$dir/word"
ok "while a third one starts" ctl restart --no-wait web/app
wait_for 5 has_runs_aside 2 || die "there are three"
start=$(now)
ctl shutdown web --grace 4s --no-wait >"$dir/out" 2>&1
answer "$connection"
ok "a shutdown of its group ends all of them" wait_for 20 has_no_process
within "within its grace" $(($(now) - start)) 1000 9000
wait "$fast"
like "with the requests that end in time" "$(cat "$dir/fast")" '200 OK'
end_process "$slow"
stop_daemon
is "the daemon ends" "$status" 0
ok "and nothing is left" wait_for 5 nobody_else

# --- What cannot ---

cannot() { # NAME REGEX LINE...
	local name=$1 regex=$2
	shift 2
	{
		echo '[web]'
		printf '%s\n' "$@" 'handover = yes'
	} >"$dir/cannot.ini"
	"$swansongctl" check "$dir/cannot.ini" >"$dir/out" 2>&1
	is "$name: refused" "$?" 78
	like "$name: with the reason" "$(cat "$dir/out")" "cannot.ini:[0-9]+: \[web\] handover: $regex"
}
cannot "a service that binds its port" 'the next run needs the sockets .*set listen' "command = $helpers/idle"
cannot "a forking one" 'only a service of type = simple' "command = $helpers/idle" 'type = forking' \
	"pid-file = $dir/pid" 'listen = tcp:127.0.0.1:8080'
cannot "one with a probe" 'the present run could answer' "command = $helpers/idle" \
	'listen = tcp:127.0.0.1:8080' 'ready = tcp:127.0.0.1:8080'
cannot "one that is ready by a line" 'the present run could .* or write its line' "command = $helpers/idle" \
	'listen = tcp:127.0.0.1:8080' 'ready = log:^up'
cannot "one on demand" 'contradicts autostart = on-demand' "command = $helpers/idle" \
	'listen = tcp:127.0.0.1:8080' 'autostart = on-demand'
finish
