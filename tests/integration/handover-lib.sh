# shellcheck shell=bash
# Functions of the stories of hand-overs, after lib.sh: requests to slow-server at port 8080.

# Begins a request of so many milliseconds, which a run has when it is asked for.
ask() { # MSEC FILE: $asked is the pid of its reader
	exec 7<>/dev/tcp/127.0.0.1/8080
	printf 'GET /%s HTTP/1.1\r\n\r\n' "$1" >&7
	cat <&7 >"$2" &
	asked=$!
	: "$asked"
	exec 7>&-
}
# Begins a request that has no answer before answer().
ask_until_answer() { # FILE: $asked is as above, $asking the connection
	exec {asking}<>/dev/tcp/127.0.0.1/8080
	printf 'GET /600000 HTTP/1.1\r\n\r\n' >&"$asking"
	cat <&"$asking" >"$1" &
	asked=$!
}
answer() { # CONNECTION
	local connection=$1
	echo >&"$connection"
	exec {connection}>&-
}
server() { tail -n 1 "$1" | tr -d '\r'; } # FILE: the pid that has answered
is_taken_by() { # PID: it has accepted the connection
	[ "$(find "/proc/$1/fd" -type l -lname 'socket:*' | wc -l)" -gt 1 ]
}
