#!/bin/bash
# A stop or a restart that kills processes reports them to the client that asked for it.
. "${0%/*}/lib.sh"

is_deaf() { [ "$(cat "$dir/$2" 2>/dev/null)" = "$(pid_of "$1")" ]; } # NODE NAME: since its last start
are_deaf() { is_deaf deaf deaf && is_deaf web/one one; }
await_deaf() { wait_for 10 are_deaf || die "they are deaf"; }
run() { # COMMAND...: sets $status; the output is in $dir/out and $dir/err
	status=0
	ctl "$@" >"$dir/out" 2>"$dir/err" || status=$?
}
killed() { # NODE PID: the only line of standard error
	like "$1: the kill is reported, with its pid and time" "$(cat "$dir/err")" \
		"^swansongctl: $1: killed pid $2 \(stubborn\), ([3-9][0-9][0-9]ms|[0-9.]+s) after the stop\$"
}

config <<END
[polite]
command = $helpers/idle
[deaf]
command = $helpers/stubborn $dir/deaf
stop-timeout = 400ms
[poor]
start-command = test ! -e $dir/broken
command = $helpers/stubborn $dir/poor
stop-timeout = 400ms
restart = never
[web]
[web/one]
command = $helpers/stubborn $dir/one
stop-timeout = 400ms
[web/two]
command = $helpers/idle
[held]
shutdown-timeout = 1s
[held/by]
command = $helpers/idle
END
start_daemon
ctl wait --for ready --timeout 10s
await_deaf

run stop polite
is "a stop without force is just done" "$status $(cat "$dir/err" "$dir/out")" "0 polite: complete"

deaf=$(pid_of deaf)
run stop deaf
is "a stop by force is done, and its exit status is 1" "$status $(cat "$dir/out")" "1 deaf: complete, forced"
killed deaf "$deaf"
run stop deaf
is "the kill is reported once" "$status $(cat "$dir/err" "$dir/out")" "0 deaf: complete"

one=$(pid_of web/one)
run restart web
is "so has a restart" "$status $(cat "$dir/out")" "1 web: ready, forced"
killed web/one "$one"
ok "its service is another process" not test "$(pid_of web/one)" = "$one"

ctl start deaf >/dev/null
await_deaf
run restart web/two
is "an earlier kill does not count for the next restart" "$status $(cat "$dir/err" "$dir/out")" "0 web/two: ready"

await_poor() { wait_for 10 is_deaf poor poor || die "it is deaf"; }
await_poor
poor=$(pid_of poor)
touch "$dir/broken"
run restart poor
is "a restart that fails after that has failed" "$status $(cat "$dir/out")" "1 "
is "and the reason is reported" "$(tail -n 1 "$dir/err")" 'swansongctl: poor: start-command exited with status 1'
sed -i '$d' "$dir/err"
killed poor "$poor"
for nodes in poor 'poor polite'; do
	rm "$dir/broken"
	ctl start poor >/dev/null
	await_poor
	touch "$dir/broken"
	# shellcheck disable=SC2086
	run restart --json $nodes
	is "so it is to programs: $nodes" \
		"$(jq -c '[.error, .parameters.forced, .parameters.losses[].node]' "$dir/out")" \
		'["io.swansong.Failed",true,"poor"]'
done

run restart --json polite deaf web
is "the kills of several nodes are reported together" "$(jq -c '[.forced, ([.losses[].node] | sort)]' "$dir/out")" \
	'[true,["deaf","web/one"]]'
is "by the exit status, too" "$status" 1

# --- On one connection ---

talk() { # METHOD PARAMETERS...: the names of the members of each reply, a line each
	/usr/bin/python3 - "$socket" "$@" <<-'END'
		import json, socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.settimeout(60)
		s.connect(sys.argv[1])
		for method, parameters in zip(sys.argv[2::2], sys.argv[3::2]):
		    call = {"method": "io.swansong." + method, "parameters": json.loads(parameters)}
		    s.sendall(json.dumps(call).encode() + b"\0")
		    text = b""
		    while not text.endswith(b"\0"):
		        text += s.recv(1)
		    print(method, *sorted(json.loads(text[:-1])["parameters"]))
	END
}
await_deaf
if [ -x /usr/bin/python3 ]; then
	is "a start does not report the kills of the stop before it" \
		"$(talk Stop '{"node": "deaf"}' Start '{"node": "deaf"}')" "Stop forced losses
Start"
	await_deaf
	is "a client that waits for its own stop gets the kills, even after the end" \
		"$(talk Stop '{"node": "deaf", "wait": false}' Wait '{"node": "deaf", "until": "complete"}' \
			Stop '{"node": "deaf"}')" "Stop
Wait forced losses
Stop forced losses"
	ctl start deaf >/dev/null
	await_deaf
else
	skip "replies on one connection" "package python3"
fi

# --- Others ---

"$swansongctl" guard held --why dump -- sh -c "echo >'$dir/guarded'; exec '$helpers/idle'" >/dev/null 2>&1 &
holder=$!
cleanup_fn end_process "$holder"
wait_for 10 test -e "$dir/guarded" || die "a guard is taken"
run stop held
is "the end of a guard is force" "$status $(cat "$dir/out")" "1 held: complete, forced"
like "and the holder and age of the revoked guard are reported" "$(cat "$dir/err")" \
	'^swansongctl: held: revoked, after [0-9].*, the guard of pid [0-9]+ \(.*\): dump$'
pkill -TERM -P "$holder"

await_deaf
run shutdown
is "a shutdown reports the same" "$status $(tail -n 1 "$dir/out" | sed 's/in [^,]*,/in TIME,/')" \
	"1 root: complete in TIME, forced"
ok "of all" says "$dir/err" '^swansongctl: deaf: killed pid'
ok "with the killed process" says "$dir/err" '^swansongctl: web/one: killed pid'
await_daemon 20
is "as does the daemon" "$status" 124
ok "nothing is left" wait_for 10 nobody_else
finish
