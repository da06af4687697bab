#!/bin/bash
# A process of a service's user keeps the pipe of the service's output locked, by a write from a page of a file system of
# its own: the daemon does nothing that would wait for it, another logger takes the place of the one that waits, and the
# output of all others goes on.
. "${0%/*}/lib.sh"
requires_root
requires_package setpriv util-linux

fuse=$dir/fuse
mknod -m 666 "$fuse" c 10 229 2>/dev/null || skip_all "machine: makes no device nodes"
mkdir -m 777 "$dir/mnt" "$dir/mine"
setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$helpers/fuse-sender" "$fuse" "$dir/mnt" "$dir/nowhere" datagram x >"$dir/can" 2>&1 &
wait_for 10 test -s "$dir/can"
! says "$dir/can" '^(mount|unshare|/.*fuse):' || skip_all "machine: no FUSE ($(cat "$dir/can"))"

attacker=
lock_output() { # PID [DESCRIPTOR]: its standard output
	: >"$dir/locked"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$helpers/fuse-sender" "$fuse" "$dir/mnt" - datagram x output \
		>"/proc/$1/fd/${2:-1}" 2>"$dir/locked" &
	attacker=$!
	wait_for 60 says "$dir/locked" sent || die "the pipe is locked"
}
unlock_output() {
	pkill -KILL -P "$attacker"
	end_process "$attacker"
}
cleanup_fn pkill -KILL -x fuse-sender
answers() { # a daemon that waits for the pipe would not
	timeout 60 "$swansongctl" status >/dev/null
}
mkfifo -m 666 "$dir/lines"
victims() {
	cat <<-END
		[web]
		command = sh -c 'exec cat <>$dir/lines'
		log = file:$dir/web.log
	END
}
loud() {
	cat <<-END
		[loud]
		command = $helpers/idle
		user = nobody
		log = file:$dir/mine/loud.log
	END
}
checked() {
	cat <<-END
		[checked]
		command = $helpers/idle
		user = nobody
		log = null
		autostart = no
		health = exec:sh -c 'setsid $helpers/fuse-sender $fuse $dir/mnt - datagram x output 2>$dir/mine/locked & exec sleep 60'
		health-interval = 100ms
		health-timeout = 2s
		health-retries = 1
		on-unhealthy = log
	END
}
{
	victims
	loud
	checked
} | config
start_daemon
ctl wait --for running >/dev/null
gets_line() { # TEXT
	timeout 10 sh -c "echo '$1' >'$dir/lines'"
	wait_for 10 says "$dir/web.log" "$1"
}
ok "lines come" gets_line first

# --- the logger reads the pipe ---
old=$(logger)
kill -STOP "$old"
main=$(pid_of loud)
timeout 10 sh -c "echo before >/proc/$main/fd/1"
lock_output "$main"
kill -CONT "$old"
ok "the lines of others come" gets_line second
other_logger() { pgrep -P "$daemon" -x swansong-logger | grep -qvx "$old"; }
ok "by another logger" other_logger
ok "and the stream is named" says "$log" 'loud: log: a process keeps the pipe locked'
like "in status, too" "$(ctl status loud 2>&1)" 'a process keeps its pipe locked'

unlock_output
ok "the logger that waited ends" wait_for 10 gone "$old"
ok "and the stream goes on" wait_for 10 says "$log" 'loud: log: the output is read again'
timeout 10 sh -c "echo after >/proc/$main/fd/1"
ok "its lines come again" wait_for 10 says "$dir/mine/loud.log" after

# --- the next process opens the pipe ---
exec {end}>"/proc/$main/fd/1"
ctl stop loud >/dev/null
lock_output $$ "$end"
ctl start loud --no-wait >/dev/null
ok "a start does not wait" answers
ok "and lines come" gets_line third
unlock_output
exec {end}>&-
ok "the start is done" ctl wait --for running --timeout 60s loud

# --- a check, which has the offset of its output locked as well ---
ctl start checked >/dev/null
wait_for 60 test -s "$dir/mine/locked" || die "the output of the check is locked"
has_reason() { ctl status checked | grep 'no answer in time'; }
ok "a check has its result" wait_for 10 has_reason
ok "and the daemon answers" answers
pkill -KILL -x fuse-sender
ctl stop checked >/dev/null

# --- the end of a run, a fault, and the end of the stream ---
lock_output "$(pid_of loud)"
kill -KILL "$(pid_of loud)"
ok "nor does the end of its process" answers
kill -SEGV "$daemon"
ok "after a fault the daemon is there" wait_for 20 answers
ok "and lines come" gets_line fourth
{
	victims
	checked
} | config
ok "the service may be removed" timeout 20 "$swansongctl" reload
ok "the daemon answers after it" answers
unlock_output

stop_daemon
is "the end comes" "$status" 0
finish
