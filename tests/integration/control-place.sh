#!/bin/bash
# Where the control socket of a plain user is without XDG_RUNTIME_DIR: in a directory of its own below
# /tmp, which is checked by both sides.
. "${0%/*}/lib.sh"
requires_root
requires_package setpriv util-linux

uid=$((60000 + RANDOM % 5000)) # of this test alone, as /tmp is that of others, too
place=/tmp/swansong-$uid
as_user=(env -u SWANSONG_SOCKET -u XDG_RUNTIME_DIR setpriv "--reuid=$uid" "--regid=$uid" --clear-groups)
"${as_user[@]}" true || skip_all "machine: there is no other user"
swansongd=$(program swansongd)
swansongctl=$(program swansongctl)
cleanup_fn rm -rf "$place"
printf '[idle]\ncommand = sleep 1000\n' | config
chmod 644 "$ini"
run() { # as the user
	: >"$log"
	"${as_user[@]}" "$swansongd" -v --trust-config -c "$ini" >>"$log" 2>&1 </dev/null &
	daemon=$!
	cleanup_fn end_process "$daemon"
}

run
ok "swansongctl finds the daemon" wait_for 10 "${as_user[@]}" "$swansongctl" status
is "in a directory of the user alone" "$(stat -c '%a %u' "$place")" "700 $uid"
ok "root finds it by its path" "$swansongctl" --socket "$place/control.sock" status
ok "another user does not" not setpriv --reuid=65534 --regid=65534 --clear-groups \
	"$swansongctl" --socket "$place/control.sock" status
stop_daemon
is "it ends" "$status" 0

# Without one of its own, a user talks to the daemon of root.
"${as_user[@]}" "$swansongctl" status >"$dir/out" 2>&1
is "without any daemon there is an error" "$?" 3
ok "the error names both places" says "$dir/out" "$place/control.sock: .*; nor that of root: /run/swansong/control.sock"
(unset SWANSONG_SOCKET && exec "$swansongd" -c "$ini" >>"$log" 2>&1 </dev/null) &
daemon=$!
cleanup_fn end_process "$daemon"
wait_for 10 test -S /run/swansong/control.sock || die "the daemon of root is there"
"${as_user[@]}" "$swansongctl" status >"$dir/out" 2>&1
is "the daemon of root refuses a user without rights" "$?" 5
chmod 666 /run/swansong/control.sock
ok "a user with rights finds it" wait_for 10 "${as_user[@]}" "$swansongctl" status
stop_daemon

for trick in 'mkdir -m 700' 'mkdir -m 777' 'ln -s /var'; do
	rm -rf "$place"
	$trick "$place"
	[ "$trick" != 'mkdir -m 777' ] || chown "$uid" "$place"
	run
	ok "$trick: the log reports that there is no socket" wait_for 10 says "$log" \
		"no control socket at $place/control.sock: the directory must belong to this user alone"
	"${as_user[@]}" "$swansongctl" status >"$dir/out" 2>&1
	is "$trick: nor does swansongctl use it" "$?" 5
	ok "$trick: the services run" wait_for 10 says "$log" 'idle: started'
	stop_daemon
done
ok "no process is left" wait_for 10 nobody_else
finish
