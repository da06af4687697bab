#!/bin/bash
# Actions: a client with the token starts, stops and restarts nodes; no other client, and no page of
# another site, gets the exporter to do anything.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"
requires_package /usr/bin/python3 python3

token=$(head -c 32 /dev/urandom | od -An -vtx1 | tr -d ' \n')
token_file=$dir/token
give_token() { # TOKEN [MODE]
	printf '%s\n' "$1" >"$token_file.new"
	chmod "${2:-600}" "$token_file.new"
	mv "$token_file.new" "$token_file"
}
json='Content-Type: application/json'
bearer() { echo "Authorization: Bearer $1"; }
send() { # DATA [OPTION...]: prints the status, and the reply is in $dir/reply
	curl -s --max-time 60 -o "$dir/reply" -w '%{http_code}' "$url/api/action" --data-binary "$1" "${@:2}"
}
act() { send "$1" -H "$json" -H "$(bearer "$token")" "${@:2}"; } # DATA [OPTION...]
body() { jq -cn --arg action "$1" --arg node "$2" '{action: $action, node: $node}'; } # ACTION NODE
error() { jq -r .error "$dir/reply"; }
pid_of() { got /api/tree ".nodes[] | select(.path == \"$1\").service.pid"; } # NODE
has_new_pid() { [ "$(pid_of web/app)" != "$pid" ] && shows web/app up; }

config <<END
[web]
[web/app]
command = $helpers/idle
[db]
command = $helpers/idle
autostart = no
END
start_daemon
ctl wait --for ready

# --- The token file ---

refused() { # the exporter does not start; its message
	timeout 5 "$(program swansong-exporter)" --socket "$socket" "$@" >"$dir/refused" 2>&1
	echo "status $?" >>"$dir/refused"
	cat "$dir/refused"
}
like "--actions needs a token file" "$(refused --actions)" "belong together, for example.*status 2"
like "a token file needs --actions" "$(refused --token-file "$token_file")" "belong together.*status 2"
like "the file has to exist" "$(refused --actions --token-file "$token_file")" "No such file.*status 1"
give_token "$token" 644
like "others must not read it" "$(refused --actions --token-file "$token_file")" \
	"other users may read or change it: expected mode 0600.*status 1"
give_token ""
like "an empty token is refused" "$(refused --actions --token-file "$token_file")" "too short: expected at least 16"
give_token 0123456789abcde
like "so is a short one" "$(refused --actions --token-file "$token_file")" "too short: expected at least 16"
mkfifo -m 600 "$dir/fifo"
like "and a pipe" "$(refused --actions --token-file "$dir/fifo")" "not a regular file"
if is_root; then
	give_token "$token"
	chown 65534 "$token_file"
	like "and a file of another user" "$(refused --actions --token-file "$token_file")" "belongs to another user"
else
	skip "and a file of another user" "machine: needs root"
fi

# --- Without --actions ---

start_exporter
is "without --actions, nothing is done" "$(act "$(body stop web/app)") $(error)" \
	"403 the exporter was started without --actions"
is "and the page knows it" "$(got /api/tree .features.actions)" false
end_process "$exporter"

# --- Actions ---

give_token "$token"
start_exporter --actions --token-file "$token_file"
is "the page knows that there are actions" "$(got /api/tree .features.actions)" true
is "a service is started" "$(act "$(body start db)") $(cat "$dir/reply")" '200 {"ok":true}'
ok "and is up" wait_for 5 shows db up
is "a service is stopped" "$(act "$(body stop db)")" 200
ok "and is down" wait_for 5 shows db down
pid=$(pid_of web/app)
is "a group is restarted" "$(act "$(body restart web)")" 200
ok "with a new process" wait_for 5 has_new_pid
like "the log of the exporter has it" "$(cat "$exporter_log")" 'web: 127\.0\.0\.1, port [0-9]+ asks for io.swansong.Restart'
like "so have the events of the daemon" "$(got /api/node/web/app '.events[].cause')" "pid $exporter"

is "no such node" "$(act "$(body start nothing)") $(error)" "404 no such node"
is "a name with a quote, a newline and a tag" "$(act "$(body stop $'a"\n<script>')") $(error)" "404 no such node"
is "which is one line of the log" "$(grep -c 'script>: 127' "$exporter_log")" 1
is "the root is not stopped" "$(act "$(body stop "")") $(error | cut -d: -f1)" "409 the root cannot be stopped"
is "an unknown action" "$(act "$(body reload web)") $(error)" \
	"400 unknown action: expected start, stop, restart, shutdown, extend, hold or release"
for bad in '' '[]' '{"action":"stop"}' '{"action":"stop","node":1}' '{"action":"stop","node":"db"' \
	$'\xff\xfe'; do
	is "a bad body: $(printf %q "$bad")" "$(act "$bad") $(error | cut -d' ' -f1)" "400 expected"
done

# --- Attacks: each has a body that would stop web/app ---

attack=$(body stop web/app)
is "not by GET" "$(status_of "/api/action?action=stop&node=web/app" -H "$(bearer "$token")")" 405
is "not without a token" "$(send "$attack" -H "$json")" 401
is "not with a wrong token" "$(send "$attack" -H "$json" -H "$(bearer "${token%?}")")" 401
is "not with another scheme" "$(send "$attack" -H "$json" -H "Authorization: Basic $token")" 401
is "not with a token in the path" \
	"$(status_of "/api/action?token=$token" -X POST -H "$json" --data-binary "$attack")" 401
is "not from another site" "$(act "$attack" -H 'Origin: http://evil.example')" 403
is "not from a sandbox of another site" "$(act "$attack" -H 'Origin: null')" 403
is "not by a name of another site for this address" "$(act "$attack" -H 'Host: evil.example:9633')" 421
is "not as a form" "$(send "$attack" -H 'Content-Type: text/plain' -H "$(bearer "$token")")" 415
is "not as a form of a browser" "$(send "$attack" -H 'Content-Type: application/x-www-form-urlencoded' \
	-H "$(bearer "$token")")" 415
is "nor may another site ask what it may do" "$(status_of /api/action -X OPTIONS -H 'Origin: http://evil.example' \
	-H 'Access-Control-Request-Method: POST')" 405
head -c 10000000 /dev/zero | tr '\0' ' ' >"$dir/long"
is "not with a body of 10 MB" "$(act "@$dir/long")" 413
is "nor without its length" "$(act "@$dir/long" -H 'Transfer-Encoding: chunked')" 413
clients() { /usr/bin/python3 "$top_srcdir/tests/helpers/exporter-clients.py" 9633 "$@"; } # KIND [ARGUMENT...]
is "1000 wrong tokens are refused" "$(clients guess 1000 | sort | uniq -c | tr -s ' ')" " 1000 401"
is "and the log has one line about them" "$(grep -c 'wrong token' "$exporter_log")" 1
is "nothing of this has stopped it" "$(node_state web/app)" up
is "the right token still works" "$(act "$(body start web/app)")" 200
clients half "$token" >"$dir/half" &
cleanup_fn end_process $!
wait_for 10 says "$dir/half" sent
is "others are served while a body is half" "$(act "$(body start web/app)")" 200

# --- The token changes ---

old=$token
token=$(echo "$token" | rev)
give_token "$token"
is "a token that was replaced is valid no more" "$(send "$(body start db)" -H "$json" \
	-H "$(bearer "$old")")" 401
is "but the new one is" "$(act "$(body start db)")" 200
chmod 644 "$token_file"
is "none is, once others may read it" "$(act "$(body stop db)")" 401
like "and the log gives the reason" "$(cat "$exporter_log")" "other users may read or change it"
chmod 600 "$token_file"
kill -HUP "$exporter"
is "SIGHUP reads it again, and ends nothing" "$(act "$(body stop db)")" 200

# --- A daemon that does not answer ---

kill -STOP "$daemon"
waiting=()
for i in $(seq 17); do
	curl -s --max-time 60 -o "$dir/waits.$i" -w '%{http_code}\n' "$url/api/action" -H "$json" \
		-H "$(bearer "$token")" -d "$(body start db)" >"$dir/status.$i" &
	waiting+=($!)
done
some_are_refused() { cat "$dir"/status.* | grep -q 503; }
ok "a seventeenth action is not kept waiting" wait_for 5 some_are_refused
clients leave "$token"
is "others are served meanwhile" "$(status_of /api/tree)" 200
answers() { [ "$(status_of "$1")" = "$2" ]; } # PATH STATUS
wait "${waiting[@]}"
clients late "$token" >"$dir/late" &
late=$!
ok "a probe notices that it does not answer" wait_for 30 answers /healthz 503
is "so does the tree" "$(got /api/tree .up)" false
is "the others learn that it does not answer" "$(sort "$dir"/status.* | uniq -c | tr -s ' ' | tr '\n' ,)" \
	" 1 503, 16 504,"
wait "$late"
is "so does one that sent it late" "$(cat "$dir/late")" 504
clients leave "$token"
is "a client that leaves meanwhile is no harm" "$(status_of /api/tree)" 200
kill -CONT "$daemon"
works() { [ "$(act "$(body start db)")" = 200 ]; }
ok "an action works again" wait_for 10 works
ok "and a probe notices" wait_for 10 answers /healthz 200
ok "half a body is ended" wait_for 20 says "$dir/half" ended

# --- The end of the exporter, and of the daemon ---

kill -STOP "$daemon"
asked=$(grep -c 'a client asks' "$exporter_log")
act "$(body start db)" >"$dir/last" &
request=$!
is_asked() { [ "$(grep -c 'a client asks' "$exporter_log")" -gt "$asked" ]; }
wait_for 5 is_asked
kill -TERM "$exporter"
wait "$exporter"
is "the exporter ends well" "$?" 0
wait "$request"
is "an action that waits learns of the end" "$(cat "$dir/last") $(error)" "503 the exporter ends"
kill -CONT "$daemon"
start_exporter --actions --token-file "$token_file"
stop_daemon
is "without a daemon" "$(act "$(body start db)")" 502
end_process "$exporter"

# --- Without the right to do so ---

if is_root; then
	{ printf '[swansong]\ncontrol-mode = 0666\n' && cat "$ini"; } >"$ini.new"
	mv "$ini.new" "$ini"
	chown 65534 "$token_file"
	chmod 755 "$dir"
	start_daemon
	: >"$exporter_log"
	setpriv --reuid 65534 --clear-groups "$(realpath "$(program swansong-exporter)")" --socket "$socket" \
		--actions --token-file "$token_file" >"$exporter_log" 2>&1 </dev/null &
	exporter=$!
	cleanup_fn end_process "$exporter"
	wait_for 10 says "$exporter_log" 'nodes$'
	is "an exporter that may only look gets the reason" "$(act "$(body stop web)") $(error)" \
		"403 only root, the user of the daemon, control-group and control-run-group may change things, or read logs"
	end_process "$exporter"
	stop_daemon
else
	skip "an exporter that may only look gets the reason" "machine: needs root"
fi
finish
