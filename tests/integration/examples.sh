#!/bin/bash
# The examples of the library do what they show: what is in flight at SIGTERM is answered.
. "${0%/*}/lib.sh"

examples=$top_builddir/contrib/examples

begin() { # NAME [ARGUMENT...]: with input from $input
	local name=$1
	shift
	: >"$log"
	# shellcheck disable=SC2016  # for the shell within
	launch sh -c 'exec "$@" <"$0"' "${input:-/dev/null}" "$examples/$name" "$@"
	wait_for 10 says "$log" '^ready$' || die "$name is ready"
}

# A server is asked, and ended while it is at it.
server() { # NAME PORT
	local connection answer=
	begin "$1" "$2"
	exec {connection}<>"/dev/tcp/127.0.0.1/$2"
	echo "slow song" >&"$connection"
	ok "$1: a request is in flight" wait_for 10 says "$log" '^answering$'
	kill -TERM "$daemon"
	read -r -t 10 answer <&"$connection"
	exec {connection}>&-
	is "$1: it is answered" "$answer" "slow song"
	await_daemon 10
	is "$1: exits 0" "$status" 0
	ok "$1: drained, and in that order" in_order '^answering$' '^drained$'
}

server threaded-tcp-server 8001
server sd-event-server 8002

# Nobody else is served, and whoever is idle does not hold up the end.
begin threaded-tcp-server 8003
exec {idle}<>/dev/tcp/127.0.0.1/8003
stop_daemon
is "an idle connection does not hold up the end" "$status" 0
exec {idle}>&-

input=$dir/input
mkfifo "$input"
exec {numbers}<>"$input"
begin worker-pool
printf '1000\n2500\n' >&"$numbers"
ok "worker-pool: work is in flight" wait_for 10 says "$log" '^working on 2500$'
kill -TERM "$daemon"
await_daemon 10
is "worker-pool: exits 0" "$status" 0
ok "worker-pool: all is answered, in time or not, before the end" in_order \
	'^working on 1000$' '^1000: done$' '^2500: not in time$' '^drained$'
exec {numbers}>&-
finish
