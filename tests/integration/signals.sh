#!/bin/bash
# Signals to a daemon that has a configuration: those that end it, and the effects of the others.
. "${0%/*}/lib.sh"

mkfifo "$dir/go"
web() { # [KEY...]: it ends when it gets a line
	printf '%s\n' '[swansong]' "$@" '[web/app]' \
		"command = $helpers/signal-log $dir/app 0 $dir/go" '[other]' "command = $helpers/idle" \
		'[broken]' 'command = sh -c "exit 3"' 'restart = never' '[late]' "command = $helpers/idle" \
		'autostart = no' | config
}
begin() {
	rm -f "$dir/app"
	: >"$log"
	start_daemon
	wait_for 10 says "$dir/app" ready || die "the service is there"
	wait_for 10 has_state broken failed || die "broken has failed"
	wait_for 10 has_state other up || die "other is up"
}

# --- Signals that do not end it ---

web
begin
kill -USR1 "$daemon"
ok "SIGUSR1 writes the tree into the log" wait_for 10 says "$log" \
	"${said}web/app: running, 1 guard, up, pid $(pid_of web/app)\$"
ok "all of it" wait_for 10 says "$log" 'other: running, 1 guard, up, pid'
ok "groups as well" says "$log" 'root: running, 2 guards$'
ok "the failed services with their results" says "$log" 'broken: running, 0 guards, failed: exited with status 3$'
ok "and the sleeping ones" says "$log" 'late: running, 0 guards, down$'
kill -PIPE "$daemon"
is "SIGPIPE is nothing" "$(state web/app)" up

# --- Twice, and thrice ---

kill -TERM "$daemon"
ok "SIGTERM is a stop" wait_for 10 says "$dir/app" TERM
for signal in TERM INT RTMIN+3; do
	kill -s "$signal" "$daemon"
	ok "SIG$signal after that logs the nodes that are waited for" wait_for 10 says "$log" "SIG${signal/+/\\+} again; .*web/app"
done
is "and nothing is killed" "$(field web/app .forced) $(grep -c TERM "$dir/app")" "false 1"
echo >"$dir/go"
await_daemon 10
is "the end is graceful" "$status" 0

# --- Each alone, and the exit status for it ---

for case in TERM:15 INT:2 RTMIN+3:37; do
	for how in 0 128+n; do
		web "exit-on-signal = $how"
		begin
		kill -s "${case%:*}" "$daemon"
		wait_for 10 says "$dir/app" TERM || die "it is stopped by SIG${case%:*}"
		echo >"$dir/go"
		await_daemon 10
		want=0
		[ "$how" = 0 ] || want=$((128 + ${case#*:}))
		is "SIG${case%:*} is a stop; exit-on-signal = $how" "$status" "$want"
	done
done
begin
kill -QUIT "$daemon"
await_daemon 10
is "SIGQUIT kills all processes, and the daemon does not end by the signal" "$status" 124
ok "though it was asked first" says "$log" 'web/app: killing pid'

# --- At a terminal ---

if command -v python3 >/dev/null; then
	web
	cat >"$dir/script" <<-'END'
	expect web/app: starting -> up
	send \x03
	expect shutting down: SIGINT
	send \x03
	end 124
	END
	ok "a second key of the terminal kills the processes that ignore the first one" \
		python3 "$top_srcdir/tests/helpers/terminal.py" "$swansongd" -v -c "$ini" --socket "$socket" \
		<"$dir/script"
else
	skip "a second key of the terminal" "package python3"
fi
ok "nothing is left" wait_for 10 nobody_else
finish
