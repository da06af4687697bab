#!/bin/bash
# The control socket: its owner, the users that may connect, and the treatment of rude clients.
. "${0%/*}/lib.sh"
[ -x /usr/bin/python3 ] || skip_all "package python3"

config <<END
[web]
command = $helpers/idle
END
start_daemon
ctl wait --for ready

# --- Its owner
timeout 10 "$swansongd" -c "$ini" --socket "$socket" >"$dir/second" 2>&1
is "a second daemon ends" "$?" 1
like "and names the socket" "$(cat "$dir/second")" "$socket"
ok "the first is still there" ctl status
ctl status $'\xff' >"$dir/said" 2>&1
is "a name that is no text is no node" "$? $(cat "$dir/said")" "4 swansongctl: \\xff: no such node"
web=$(pid_of web)
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
kill -KILL "$web" # it outlives its daemon
ok "a dead daemon leaves its socket" test -S "$socket"
start_daemon
ok "its successor replaces it" ctl status
stop_daemon

# --- A user that may connect always may: its credentials are known from the first byte on
config <<END
[web]
command = $helpers/idle
END
start_daemon
for i in {1..200}; do
	ctl guard web -- true || break
done
is "two hundred guards, one after the other" "$i" 200
stop_daemon

# --- Rude clients: of another user, where there is one
as_nobody=()
if is_root; then
	as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
config <<END
[swansong]
control-mode = 0666
[web]
command = $helpers/idle
END
start_daemon
ctl wait --for ready

latency() { # the slowest of ten, in milliseconds
	local began took worst=0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		began=$(now)
		ctl status >"$dir/status" || return
		took=$(($(now) - began))
		[ "$took" -le "$worst" ] || worst=$took
	done
	echo "$worst"
}
web=$(pid_of web)
before=$(memory_of "$daemon")
descriptors=$(descriptors)
for kind in garbage half endless deaf crowd; do
	# Opened by this test: the user nobody may not enter every folder.
	"${as_nobody[@]}" /usr/bin/python3 - "$socket" $kind >"$dir/$kind" 2>&1 \
		<"$top_srcdir/tests/helpers/rude-client.py" &
	client=$!
	cleanup_fn end_process "$client"
	ok "$kind: is dealt with" wait_for 20 says "$dir/$kind" "done"
	if [ $kind = crowd ] && [ ${#as_nobody[@]} = 0 ]; then
		skip "$kind: others are served" "machine: needs root"
	else
		took=$(latency)
		within "$kind: others are served" "${took:-9999}" 0 5000
	fi
	kill -KILL "$client" 2>/dev/null
	wait "$client" 2>/dev/null
	is "$kind: the service is not touched" "$(pid_of web)" "$web"
done
ok "the daemon has not grown" test "$(memory_of "$daemon")" -lt $((before + 4096))
ok "the daemon has closed their connections" wait_for 5 has_descriptors "$descriptors"

# --- Users that may connect
if [ ${#as_nobody[@]} = 0 ]; then
	skip "users that may connect" "machine: needs root"
	finish
fi
is "other users may be allowed to read" "$("${as_nobody[@]}" "$swansongctl" status --json |
	jq -r '.nodes[] | select(.path == "web") | .service.state')" up
for verb in "start web" "stop web" "shutdown" "restart web" "reload" "guard web -- true" "guard --using web -- true"; do
	# shellcheck disable=SC2086  # words
	"${as_nobody[@]}" "$swansongctl" $verb >"$dir/denied" 2>&1
	is "but not: $verb" "$?" 5
done
is "and nothing happened" "$(state web) $(pid_of web)" "up $web"
stop_daemon
is "it ends as if nothing had been" "$status" 0

printf '[web]\ncommand = %s/idle\n' "$helpers" | config
start_daemon
"${as_nobody[@]}" "$swansongctl" status >"$dir/denied" 2>&1
is "by default no other user may connect" "$?" 5
stop_daemon

# --- Keys of the configuration
named() { # MODE: the configuration
	printf '%s\n' '[swansong]' "control-socket = $dir/named" 'control-group = 54321' \
		"control-mode = $1" '[web]' "command = $helpers/idle" | config
}
of_the_group=(setpriv --reuid=65534 --regid=65534 --groups=54321)
named 0660
launch "$swansongd" -v -c "$ini"
wait_for 10 test -S "$dir/named" || die "the socket is at the configured path"
is "with the configured mode and group" "$(stat -c '%a %g' "$dir/named")" "660 54321"
ok "which goes before the environment" not test -e "$socket"
ok "a user of the group may do all" "${of_the_group[@]}" "$swansongctl" -s "$dir/named" restart web
ok "but run no program of no file" not "${of_the_group[@]}" "$swansongctl" -s "$dir/named" run other -- true
ok "as work that uses a node does" "${of_the_group[@]}" "$swansongctl" -s "$dir/named" guard --using web -- true
"${as_nobody[@]}" "$swansongctl" -s "$dir/named" status >"$dir/denied" 2>&1
is "another user may not connect" "$?" 5
stop_daemon
ok "at the end it is gone" not test -e "$dir/named"
named 0666
launch "$swansongd" -v -c "$ini" --socket "$socket"
wait_for 10 ctl_answers || die "an option goes before both"
ok "and makes no other socket" not test -e "$dir/named"
"${as_nobody[@]}" "$swansongctl" status >"$dir/denied" 2>&1
is "with a mode for all, others may look" "$?" 0
"${as_nobody[@]}" "$swansongctl" stop web >"$dir/denied" 2>&1
is "and do nothing" "$?" 5
ok "but a user of the group may" "${of_the_group[@]}" "$swansongctl" stop web
stop_daemon
printf '[swansong]\ncontrol-socket = none\n[web]\ncommand = touch %s/ran\n' "$dir" | config
: >"$log"
launch "$swansongd" -v -c "$ini"
ok "without one services run" wait_for 10 test -e "$dir/ran"
ok "and there is none" not test -e "$socket"
stop_daemon
is "it ends by a signal as ever" "$status" 0
finish
