#!/bin/bash
# Ends that are followed by another run, and their pause; ends that count as clean; and ends that stop the
# tree.
. "${0%/*}/lib.sh"

# Its first run ends as its argument asks, with "ever" each run; otherwise the second one stays.
cat >"$dir/once" <<'END'
#!/bin/sh
# once NAME SIGNAL|STATUS [ever]
dir=${0%/*}
echo run >>"$dir/$1.runs"
[ "$(wc -l <"$dir/$1.runs")" = 1 ] || [ "$3" ] || exec sleep 1000
case $2 in
[A-Z]*) ulimit -c 0; kill -s "$2" $$; exec sleep 1000 ;;
*) exit "$2" ;;
esac
END
chmod 755 "$dir/once"
runs() { { wc -l <"$dir/$1.runs"; } 2>/dev/null; }             # NAME
comes_to() { [ "$(runs "$1")" = "$2" ] && has_state "$1" "$3"; } # NAME RUNS STATE

# NAME END STATE: the state that follows | keys
table=$(
	cat <<-'END'
	default-0		0	done	|
	default-1		1	up	|
	default-TERM		TERM	done	|
	default-HUP		HUP	up	|
	default-KILL		KILL	up	|
	always-0		0	up	| restart = always
	always-3		3	up	| restart = always
	always-success		3	up	| restart = always; success-status = 3
	failure-0		0	done	| restart = on-failure
	failure-255		255	up	| restart = on-failure
	never-0			0	done	| restart = never
	never-1			1	failed	| restart = never
	never-KILL		KILL	failed	| restart = never
	never-success		3	done	| restart = never; success-status = 3
	success-0		0	done	| success-status = 3
	success-3		3	done	| success-status = 3 SIGHUP 255 10
	success-255		255	done	| success-status = 3 SIGHUP 255 10
	success-HUP		HUP	done	| success-status = 3 SIGHUP 255 10
	success-USR1		USR1	up	| success-status = 3 SIGHUP 255 10
	success-4		4	up	| success-status = 3 SIGHUP 255 10
	stop-signal		INT	done	| stop-signal = INT
	stop-signal-TERM	TERM	up	| stop-signal = INT
	oneshot-0		0	done	| type = oneshot
	oneshot-1		1	failed	| type = oneshot
	oneshot-TERM		TERM	failed	| type = oneshot
	oneshot-success		3	done	| type = oneshot; success-status = 3
	oneshot-failure		3	starting | type = oneshot; restart = on-failure
	oneshot-failure-0	0	done	| type = oneshot; restart = on-failure
	END
)
while IFS='|' read -r what keys; do
	read -r name end _ <<<"$what"
	printf '[%s]\ncommand = %s/once %s %s\nrestart-delay = 0\n' "$name" "$dir" "$name" "$end"
	tr ';' '\n' <<<"$keys" | sed 's/^ *//'
done <<<"$table" | config
cat >>"$ini" <<END
[follows-success]
command = $helpers/idle
requires = oneshot-success
END
start_daemon
while IFS='|' read -r what keys; do
	read -r name end wanted <<<"$what"
	[[ $wanted == @(done|failed) ]] && n=1 || n=2
	ok "ended by $end,${keys:- by default} it is $wanted after $n" wait_for 20 comes_to "$name" "$n" "$wanted"
done <<<"$table"
is "a service that counts as ended well is ready for its dependents" "$(state follows-success)" up
stop_daemon
is "a failed service does not change the exit status" "$status" 0

# --- The pause -----------------------------------------------------------------------------------

for name in good bad; do
	cat <<-END
	[$name]
	command = sh -c 'read -r _ <$dir/$name.word; exit 1'
	restart-delay = 20ms
	restart-delay-max = 1h
	restart-limit = 3/1h
	END
	mkfifo "$dir/$name.word"
done | config
echo 'restart-reset = 1h' >>"$ini" # of the second one
sed -i '/^\[good\]/a restart-reset = 500ms' "$ini"
start_daemon
ctl wait --for ready >/dev/null || die "both are up"
restarts() { [ "$(field "$1" .service.restarts)" = "$2" ] && has_state "$1" up; } # NAME COUNT
lasts() { [ "$(now)" -ge $((began + $1)) ]; } # MILLISECONDS
for name in good bad; do
	for i in 1 2; do
		echo >"$dir/$name.word"
		ok "$name: run $i has failed, and the next one is there" wait_for 10 restarts "$name" "$i"
	done
done
ok "the pause doubles" in_order 'bad: exited with status 1; again in 20ms' \
	'bad: exited with status 1; again in 40ms'
began=$(now)
wait_for 10 lasts 600
: >"$log"
echo >"$dir/good.word"
echo >"$dir/bad.word"
ok "a run as long as restart-reset makes the next pause the first one" \
	wait_for 10 says "$log" 'good: exited with status 1; again in 20ms'
ok "and no other" wait_for 10 says "$log" 'bad: exited with status 1; again in 80ms'
wait_for 10 restarts good 3 && wait_for 10 restarts bad 3
echo >"$dir/bad.word"
ok "the failures of short runs add up to the restart-limit" wait_for 10 has_state bad failed
is "after as many restarts" "$(field bad .service.restarts)" 3
stop_daemon
is "the end is graceful" "$status" 0

# --- The end of the tree -------------------------------------------------------------------------

essential() { # END STATUS [KEY...]: the daemon's exit status
	local end=$1 want=$2
	shift 2
	rm -f "$dir"/*.runs
	: >"$log"
	{
		printf '[main]\ncommand = %s/once main %s ever\nessential = yes\nrestart = never\n' "$dir" "$end"
		[ $# = 0 ] || printf '%s\n' "$@"
		printf '[other]\ncommand = %s/signal-log %s/other\n' "$helpers" "$dir"
	} | config
	launch "$swansongd" -v -c "$ini" --socket "$socket"
	await_daemon 20
	is "essential, ended by $end${1:+, with $*}: the exit status is $want" "$status" "$want"
	ok "nothing of the others is left" wait_for 10 nobody_else
}
essential 0 0
ok "and the reason is logged" says "$log" 'root: shutting down: main has ended'
essential 7 7
ok "and the reason is logged" says "$log" 'root: shutting down: main has failed'
essential KILL 137
essential 3 0 'success-status = 3'
essential 0 0 'type = oneshot'
essential 5 5 'start-command = true' 'post-stop = false'
sed -i 's/restart = never/restart = on-failure\nrestart-limit = 2\/1h\nrestart-delay = 0/' "$ini"
rm -f "$dir"/*.runs
launch "$swansongd" -v -c "$ini" --socket "$socket"
await_daemon 20
is "an end that is followed by a restart is none" "$(runs main) $status" "3 5"

# A client stops the root.
printf '[main]\ncommand = %s/signal-log %s/main 9\nessential = yes\n' "$helpers" "$dir" | config
rm -f "$dir/main"
start_daemon
wait_for 10 says "$dir/main" ready || die "main is there"
stop_daemon
is "stopped from outside, its answer is the exit status" "$status" 9
finish
