#!/bin/bash
# A server of HTTP is restarted under load, again and again: not one request is lost.
. "${0%/*}/lib.sh"
requires_package python3 python3

server=$top_builddir/contrib/examples/http-server
listen="listen = tcp:127.0.0.1:8080"

web() { # LINE...: the configuration
	printf '[web]\ncommand = %s\nready = notify\nrestart = always\n' "$server" | config
	printf '%s\n' "$@" >>"$ini"
}

# The load, in the background: it counts, and prints a line for each 200 answers.
load() { # CLIENTS
	"$helpers/http-load" 8080 "$1" 200 >"$dir/load" &
	asking=$!
	cleanup_fn end_process "$asking"
	more_answers
}
answers_of_more_than() { [ "$(grep -c ^answered "$dir/load")" -gt "$1" ]; } # N
more_answers() {
	wait_for 30 answers_of_more_than "$(grep -c ^answered "$dir/load")" || die "there are answers"
}

# Ends it; $counts is its result.
load_ends() {
	more_answers
	kill -TERM "$asking"
	wait_for 60 gone "$asking" || die "the load ends"
	counts=" $(tail -n 1 "$dir/load") "
	echo "$counts" | comment
}
count() { # NAME
	local after=${counts#* "$1"=}
	echo "${after%% *}"
}

restarts() { # N: each under load, and by another process
	local i pid
	for ((i = 0; i < $1; i++)); do
		more_answers
		pid=$(pid_of web)
		ctl restart web --timeout 60s >/dev/null || die "it is restarted"
		[ "$(pid_of web)" != "$pid" ] || die "another process serves"
	done
}

# Of all stops so far none was forced, and no process had another end than its own.
clean_stops() { # N
	is "$1 stops, each of which the server came through" \
		"$(grep -c 'web: exited with status 0$' "$log")" "$1"
	ok "none by force" not says "$log" 'SIGKILL|forced'
	is "nor is the node forced" "$(field web .forced)" false
}

# --- With the socket, and a store for idle connections -------------------------------------------

web "$listen" 'fd-store-max = 250'
start_daemon
ok "the server is ready" ctl wait --for ready --timeout 60s
load 200
restarts 10
load_ends
is "ten restarts under 200 clients: no request fails" "$(count failed)" 0
is "each that was sent has an answer" "$(count answered)" "$(count requests)"
is "the first run and ten others have answered" "$(count servers)" 11
is "no client sees that its connection has ended" "$(count hung-up)" 0
clean_stops 10
like "the socket was the daemon's all the time" "$(ss -Hltnp 'sport = 8080')" 'swansongd'

load 200
sed -i 's/^ready/environment = CHANGED=yes\n&/' "$ini"
pid=$(pid_of web)
ok "a reload that needs another process" ctl --timeout 60s reload
ok "starts it" wait_for 30 is_up_anew web "$pid"
more_answers
pid=$(pid_of web)
kill -TERM "$pid"
ok "it ends by itself, and comes back" wait_for 30 is_up_anew web "$pid"
load_ends
is "none of this loses a request" "$(count failed)" 0
is "nor a connection" "$(count hung-up)" 0
stop_daemon 30
is "the daemon ends" "$status" 0

# --- With the socket alone -----------------------------------------------------------------------

# HTTP cannot end an idle connection so that no request crosses it: such a request may be sent again.
: >"$log"
web "$listen" 'fd-store-max = 0'
start_daemon
ok "without a store it is ready" ctl wait --for ready --timeout 60s
load 200
restarts 3
load_ends
is "each failure has met the end of an idle connection" "$(count failed)" "$(count closed)"
is "four runs have answered" "$(count servers)" 4
clean_stops 3
stop_daemon 30
is "the end is as ever" "$status" 0

# --- Beside others -------------------------------------------------------------------------------

compare() { # NAME
	"$top_srcdir/tests/bench/zero-loss" --here --json --restarts 1 --clients 50 --seconds 0 \
		--only "$1" >"$dir/compared"
}
compared() { # JQ
	jq -r "$1" "$dir/compared"
}
for way in swansongd timer supervisord supervisord-socket; do
	[ "${way%-socket}" != supervisord ] || command -v supervisord >/dev/null || {
		skip "$way is measured" "package supervisor"
		continue
	}
	ok "$way is measured" compare $way
	is "without trouble" "$(compared '[.[].trouble // empty] | join(", ")')" ''
	is "and every request has its end" "$(compared '.[].figures | .requests - .answered - .failed')" \
		"$(compared '.[] | 0')"
done
# Three servers behind nginx: one after another they lose nothing, all at once many.
if command -v nginx >/dev/null; then
	ok "a rollout is measured" compare rollout
	is "without trouble" "$(compared '[.[].trouble // empty] | join(", ")')" ''
	is "it loses no request" "$(compared '.[].figures.failed')" 0
else
	skip "a rollout is measured" "package nginx-light"
fi
if command -v nginx >/dev/null && command -v supervisord >/dev/null; then
	ok "a restart of the group by supervisord is measured" compare group
	is "without trouble, too" "$(compared '[.[].trouble // empty] | join(", ")')" ''
	ok "it loses requests" test "$(compared '.[].figures.failed')" -gt 0
	ok "a restart in turn with nginx's failover is measured" compare turn-failover
	is "without trouble as well" "$(compared '[.[].trouble // empty] | join(", ")')" ''
else
	skip "restarts by supervisord behind nginx are measured" "package supervisor, nginx-light"
fi
ok "nothing is left" wait_for 10 nobody_else
finish
