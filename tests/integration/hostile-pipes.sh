#!/bin/bash
# A service passes the daemon the end of a pipe that the kernel has locked, as it waits for a page of a file in a write to
# it: the file system is the service's own.  A close, and each other use of the pipe, would wait for that page.  The pipe
# may be that of readiness, or that of its output of which the daemon awaits a line.
. "${0%/*}/lib.sh"
requires_root
requires_package setpriv util-linux

fuse=$dir/fuse
mknod -m 666 "$fuse" c 10 229 2>/dev/null || skip_all "machine: makes no device nodes"
mkdir -m 777 "$dir/mnt" "$dir/out"
mkfifo -m 666 "$dir/go"
setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$helpers/fuse-sender" "$fuse" "$dir/mnt" "$dir/nowhere" datagram x >"$dir/can" 2>&1 &
wait_for 10 test -s "$dir/can"
! says "$dir/can" '^(mount|unshare|/.*fuse):' || skip_all "machine: no FUSE ($(cat "$dir/can"))"

attacker() { # NODE MESSAGE [HOW [COMMAND]]
	cat <<-END
		[$1]
		command = sh -c 'read x <$dir/go; ${4-} exec $helpers/fuse-sender $fuse $dir/mnt - datagram $2 >>$dir/out/$1 2>&1 ${3:-pipe}'
		user = nobody
		autostart = no
		notify = yes
		fd-store-max = 4
		restart = never
	END
}
{
	service web
	attacker guard X_SWANSONG_GUARD=pipe
	attacker message STATUS=pipe
	attacker many STATUS=pipe pipes
	attacker stored FDSTORE=1
	attacker ready none 'output >&9'
	echo 'ready = fd:9'
	attacker line none 'output >&9' 'exec 9>&1; echo line;'
	echo 'ready = log:never'
} | config
has_process() { [[ $(pid_of "$1") == [1-9]* ]]; } # NODE
answers() { timeout 60 "$swansongctl" status >/dev/null; }
for kind in message guard stored ready line; do
	: >"$log"
	start_daemon
	ctl wait --for ready web >/dev/null
	ctl start "$kind" --no-wait >/dev/null
	wait_for 10 has_process "$kind"
	# It stands still until it has the only copy; so may the output of the service, which is in a file.
	kill -STOP "$daemon"
	timeout 10 sh -c "echo >'$dir/go'"
	wait_for 60 says "$dir/out/$kind" 'sent$' || die "$kind: the attack is done"
	kill -CONT "$daemon"
	ok "$kind: the daemon answers" answers
	ok "$kind: the service is stopped" timeout 10 "$swansongctl" stop "$kind" --timeout 5s
	ok "$kind: and the daemon answers" answers
	pkill -KILL -x fuse-sender
	stop_daemon
	is "$kind: the end comes" "$status" 0
	pkill -KILL -x idle
done

# A second process does not hang.
start_daemon
ctl start many --no-wait >/dev/null
wait_for 10 has_process many
kill -STOP "$daemon"
timeout 10 sh -c "echo >'$dir/go'"
sent() { (($(grep -c '^sent$' "$dir/out/many") >= 5)); }
ok "a service passes many" wait_for 60 sent
kill -CONT "$daemon"
is_closing() { pgrep -P "$daemon" -x swansong-close >/dev/null; }
ok "a child closes the first one" wait_for 30 is_closing
ok "the daemon answers, and has read them" answers
is "a single child closes them" "$(pgrep -c -P "$daemon" -x swansong-close)" 1
pkill -KILL -x fuse-sender
closers_are_gone() { ! pgrep -P "$daemon" -x swansong-close >/dev/null; }
ok "all are closed when the file system is gone" wait_for 30 closers_are_gone
stop_daemon
is "the end comes" "$status" 0
finish
