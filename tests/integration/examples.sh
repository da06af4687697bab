#!/bin/bash
# The examples of the library work as they claim: requests in progress at SIGTERM are answered.
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

# A server gets a request, and SIGTERM while it works on that.
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

# No other client is served, and idle clients do not hold up the end.
begin threaded-tcp-server 8003
exec {idle}<>/dev/tcp/127.0.0.1/8003
stop_daemon
is "an idle connection does not hold up the end" "$status" 0
exec {idle}>&-

# A connection that has no descriptor waits for one, and takes no processor meanwhile.
spent() { awk '{ print $14 + $15 }' "/proc/$daemon/stat"; } # in hundredths of a second
begin threaded-tcp-server 8003
limit=$(prlimit --noheadings --output SOFT --nofile --pid "$daemon" | tr -d ' ')
free=0
while [ -e "/proc/$daemon/fd/$free" ]; do free=$((free + 1)); done
prlimit --pid "$daemon" --nofile="$free:"
exec {connection}<>/dev/tcp/127.0.0.1/8003
echo "hello" >&"$connection"
before=$(spent)
sleep 1 # the time in which it could spin
after=$(spent)
ok "without a descriptor there is no answer" not says "$log" '^answering$'
ok "and the server does not spin" test $((after - before)) -lt 25
prlimit --pid "$daemon" --nofile="$limit:"
read -r -t 60 answer <&"$connection"
is "with a descriptor again the connection is answered" "$answer" "hello"
exec {connection}>&-
stop_daemon
is "the server ends" "$status" 0

# --- HTTP; zero-loss.sh tests its restarts ---------------------------------------------------------

converse() { # TEXT: sends it, and reads all until the end of the connection
	local fd
	exec {fd}<>/dev/tcp/127.0.0.1/8004
	printf '%b' "$1" >&"$fd"
	timeout 20 cat <&"$fd" | tr -d '\r'
	exec {fd}>&-
}

begin http-server --port 8004
is "http-server: two requests at once have two answers, and then the end" \
	"$(converse 'GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nconnection:close\r\n\r\n' |
		grep -Ex 'HTTP/1.1 .*|Connection: .*|served by .*')" \
	"HTTP/1.1 200 OK
Connection: keep-alive
served by $daemon
HTTP/1.1 200 OK
Connection: close
served by $daemon"
like "of the old version there is one" "$(converse 'GET / HTTP/1.0\r\n\r\n')" \
	'^HTTP/1.1 200 OK.*Connection: close'
like "there is nothing but to get" "$(converse 'PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc')" \
	'^HTTP/1.1 501 .*Connection: close'
like "a request that is not valid is refused" "$(converse 'hello\r\n\r\n')" '^HTTP/1.1 400 '
is "a request that is too long has no answer" "$(converse "$(printf '%9000s' x)")" ''
exec {idle}<>/dev/tcp/127.0.0.1/8004 {connection}<>/dev/tcp/127.0.0.1/8004
printf 'GET / HTTP/1.1\r\n\r\nGET / HT' >&"$connection"
while read -r -t 60 line <&"$connection" && [[ $line != served* ]]; do
	: # the first answer
done
# An answer that it begins earlier keeps the connection.
is_leaving() (
	exec {fd}<>/dev/tcp/127.0.0.1/8004 || exit 0
	printf 'GET / HTTP/1.1\r\n\r\n' >&"$fd"
	while read -r -t 60 line <&"$fd"; do
		[[ $line != Connection:* ]] || exec test "${line%$'\r'}" = "Connection: close"
	done
)
kill -TERM "$daemon"
wait_for 10 is_leaving 2>/dev/null || die "it has read the signal"
printf 'TP/1.1\r\n\r\n' >&"$connection"
like "a request that comes in two parts, and the stop in between, is answered" \
	"$(timeout 20 cat <&"$connection")" '^HTTP/1.1 200 OK.*Connection: close.*served by'
is "a client that has not asked gets the end" "$(timeout 20 cat <&"$idle")" ''
exec {idle}>&- {connection}>&-
await_daemon 20
is "http-server: exits 0" "$status" 0

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
