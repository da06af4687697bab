#!/bin/bash
# A port that another process holds does not make a service ready, and the log names that process.  With
# control groups, where there are any, and without.
. "${0%/*}/lib.sh"

config <<END
[silent]
command = $helpers/idle
ready = tcp:127.0.0.1:8001
[moves]
command = $helpers/tcp-ready 8002 $dir/moves
ready = tcp:127.0.0.1:8002
[dies]
command = sh -c 'exit 3'
ready = tcp:127.0.0.1:8003
autostart = no
restart = never
[absent]
command = $dir/absent
ready = tcp:127.0.0.1:8003
autostart = no
restart = never
[given]
command = $helpers/idle
ready = tcp:127.0.0.1:8004
listen = tcp:127.0.0.1:8004
[later]
command = $helpers/idle
ready = tcp:127.0.0.1:8005
[first]
command = $helpers/tcp-ready 8006 $dir/first
ready = tcp:127.0.0.1:8006
[second]
command = $helpers/idle
ready = tcp:127.0.0.1:8006
requires = first
start-timeout = 1s
restart = never
autostart = no
[forks]
command = sh -c '$helpers/tcp-ready 8007 $dir/forks & exec $helpers/idle'
ready = tcp:127.0.0.1:8007
END

listens() { ss -Hltn "sport = :$1" | grep -q .; }
hold() { # PORT [COMMAND...]: another process listens there, $holder
	local port=$1
	shift
	[ -p "$dir/hold.$port" ] || mkfifo "$dir/hold.$port"
	chmod 666 "$dir/hold.$port"
	"$@" "$dir/tcp-ready" "$port" "$dir/hold.$port" &
	holder=$!
	cleanup_fn end_process "$holder"
	echo >"$dir/hold.$port"
	wait_for 10 listens "$port" || die "a process listens at port $port"
}
leave() { # PID
	end_process "$1"
}
as_other=()
! is_root || as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups env SWANSONG_NODE=silent)
cp "$helpers/tcp-ready" "$dir" # for any user
mkfifo "$dir/moves" "$dir/first" "$dir/forks"

for groups in with without; do
	[ $groups = with ] || hide_cgroups
	: >"$log"
	# The variable of a service proves nothing if the user is another one.
	hold 8001 "${as_other[@]}"
	hold 8002
	moved=$holder
	hold 8003
	died=$holder
	start_daemon

	held() { says "$log" "$1: not ready: port $2 is held by pid $3 \(tcp-ready\), which is not of this service"; }
	ok "$groups groups: the holder of the port is named" wait_for 10 held moves 8002 "$moved"
	ok "$groups groups: also for a service that never listens" wait_for 10 says "$log" 'silent: not ready: port 8001'
	is "$groups groups: it is not ready" "$(state moves) $(state silent)" "starting starting"
	leave "$moved"
	wait_for 10 not listens 8002
	echo >"$dir/moves"
	ok "$groups groups: until it listens itself" wait_for 10 has_state moves up
	is "$groups groups: the holder is named once" "$(grep -c 'moves: not ready: port' "$log")" 1

	ok "$groups groups: a service that ends at once fails" not ctl start dies --timeout 20s
	ok "$groups groups: and the log names the holder of the port" held dies 8003 "$died"

	ok "$groups groups: a program that cannot be executed fails" not ctl start absent --timeout 20s
	is "$groups groups: and the daemon goes on" "$(state absent)" failed
	ok "$groups groups: the port is not the reason" not says "$log" 'absent: not ready'

	ok "$groups groups: a socket of 'listen' is its own" wait_for 10 has_state given up
	hold 8005
	ok "$groups groups: a listener that comes later is taken for its own" wait_for 10 has_state later up

	echo >"$dir/first"
	ok "$groups groups: a service listens" wait_for 10 has_state first up
	ok "$groups groups: another one is not ready by that" not ctl start second --timeout 20s
	ok "$groups groups: and the log names it" held second 8006 "$(pid_of first)"
	is "$groups groups: it has failed" "$(field second .service.result)" "was not ready within its start-timeout"

	echo >"$dir/forks"
	ok "$groups groups: a child of the service may listen" wait_for 10 has_state forks up
	stop_daemon 20
	is "$groups groups: the end is graceful" "$status" 0
	for port in 8001 8003 8005; do
		pid=$(pgrep -f "tcp-ready $port ")
		leave "$pid"
	done
done
finish
