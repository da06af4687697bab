#!/bin/bash
# Events of services: on-event-command, stop-warning, and the web hook with stand-ins for its servers.
. "${0%/*}/lib.sh"

cat >"$dir/note" <<END
#!/bin/sh
echo "\$SWANSONG_NODE \$SWANSONG_EVENT \$SWANSONG_REASON \$SWANSONG_EXIT" >>$dir/noted
END
chmod +x "$dir/note"
noted() { says "$dir/noted" "$1"; } # REGEX
times() { grep -c "^$1" "$dir/noted"; } # NODE AND EVENT
is_alert() { ctl events "$1" --no-wait --json | jq -e "select(.kind == \"alert\" and .to == \"$2\")" >/dev/null; } # NODE ALERT

tree() { # VALUE
	cat <<-END
	[swansong]
	exit-when = never
	stop-warning = 50%
	[slow]
	command = $helpers/stubborn $dir/stubborn
	stop-timeout = 600ms
	on-event-command = $dir/note
	on-failure-interval = 0
	[quick]
	command = $helpers/idle
	on-event-command = $dir/note
	environment = VALUE=$1
	[litters]
	command = sh -c '$helpers/stubborn $dir/litter & exec $helpers/idle'
	stop-timeout = 600ms
	restart = never
	on-event-command = $dir/note
	[sick]
	command = $helpers/idle
	health = exec:test -e $dir/well
	health-interval = 50ms
	health-retries = 2
	on-event-command = $dir/note
	[gone]
	command = sh -c 'test -e $dir/well || exit 3; exec $helpers/idle'
	restart = never
	on-event-command = $dir/note
	on-failure-command = $dir/note
	END
}
touch "$dir/well" "$dir/noted"
tree one | config
start_daemon
ok "all is up" ctl wait --for ready --timeout 60s
ok "slow ignores signals" wait_for 10 test -s "$dir/stubborn"

rm "$dir/well"
ok "an unhealthy service is an event" wait_for 10 noted '^sick unhealthy unhealthy '
touch "$dir/well"
ok "so is its recovery" wait_for 10 noted '^sick recovered recovered'
ok "for subscribers, too" is_alert sick recovered
rm "$dir/well"
kill -KILL "$(pid_of gone)"
ok "so is a service that is given up" wait_for 10 noted '^gone given-up signal killed by SIGKILL'
ok "for which on-failure-command runs as well" wait_for 10 noted '^gone  signal killed by SIGKILL'
touch "$dir/well"
ok "it is started again" ctl start gone
ok "and has recovered" wait_for 10 noted '^gone recovered'

ctl restart slow >/dev/null 2>&1
ok "a slow stop has a line in the log, with what it waits for" \
	says "$log" 'slow: slow stop: 3[0-9][0-9]ms of 600ms used, waiting for pid [0-9]+ \(stubborn\)'
ok "and is an event" wait_for 10 noted '^slow slow-stop slow-stop 3[0-9][0-9]ms of 600ms used, waiting for pid'
ok "so is a kill" wait_for 10 noted '^slow forced forced pid [0-9]+ \(stubborn\)'
is "each once" "$(times 'slow slow-stop') $(times 'slow forced')" "1 1"
ok "a stop in time is none" ctl restart quick
is "nor does it warn" "$(times 'quick')" 0

ok "a process of litters ignores signals" wait_for 10 test -s "$dir/litter"
kill -KILL "$(pid_of litters)"
ok "a process that outlives the main process is killed" wait_for 10 noted '^litters given-up'
is "which is no slow stop" "$(times 'litters slow-stop')" 0

tree two | config
ctl rollout sick >/dev/null
ok "a service with old settings is outdated" wait_for 10 noted '^quick outdated outdated a rollout has changed its settings'
ok "slow is up again" wait_for 10 has_state slow up
ok "and ignores signals" wait_for 10 test -s "$dir/stubborn"

# --- A shutdown, in which the commands have its budget ---

stop_daemon 20
is "its slow stop is reported" "$(times 'slow slow-stop') $(times 'slow forced')" "2 2"
ok "no command is lost with the daemon" not pgrep -x note

# --- The web hook ---

webhook=$(realpath "$top_srcdir")/contrib/webhook/swansong-webhook
run_hook() { # ARGUMENT
	echo 'last words' | SWANSONG_NODE=web/app SWANSONG_EVENT=slow-stop SWANSONG_REASON=slow-stop \
		SWANSONG_EXIT='5s of 10s used' SENDMAIL=$dir/sendmail "$webhook" "$1"
}
printf '#!/bin/sh\necho "$@" >%s/arguments\ncat >%s/mail\n' "$dir" "$dir" >"$dir/sendmail"
chmod +x "$dir/sendmail"
ok "mail is sent" run_hook mailto:admin@example.com
is "by sendmail" "$(cat "$dir/arguments")" "-i -t"
is "with its headers" "$(sed '/^$/q' "$dir/mail" | head -n 2)" "To: admin@example.com
Subject: web/app: slow-stop"
like "the event, and the last lines" "$(sed '1,/^$/d' "$dir/mail")" '^web/app on .* stops slowly: 5s of 10s used
last words$'

if command -v jq >/dev/null && command -v curl >/dev/null; then
	python3 - "$dir" <<-'END' &
	import http.server, sys
	class Handler(http.server.BaseHTTPRequestHandler):
	    def do_POST(self):
	        body = self.rfile.read(int(self.headers['Content-Length']))
	        with open(sys.argv[1] + self.path, 'wb') as out:
	            out.write(str(self.headers).encode() + b'\n' + body)
	        self.send_response(500 if self.path == '/broken' else 200)
	        self.end_headers()
	    def log_message(self, *_):
	        pass
	server = http.server.HTTPServer(('127.0.0.1', 8099), Handler)
	open(sys.argv[1] + '/listens', 'w').close()
	server.serve_forever()
	END
	cleanup_fn end_process $!
	ok "a server listens" wait_for 20 test -e "$dir/listens"
	ok "a chat gets JSON" run_hook http://127.0.0.1:8099/slack
	is "with the text and its parts" "$(sed '1,/^\r*$/d' "$dir/slack" | jq -r '"\(.text | contains("stops slowly")) \(.node) \(.event)"')" \
		"true web/app slow-stop"
	ok "ntfy gets text" run_hook ntfy:http://127.0.0.1:8099/topic
	is "with a title" "$(grep -i '^title:' "$dir/topic" | tr -d '\r')" "Title: web/app: slow-stop"
	like "and the last lines" "$(sed '1,/^\r*$/d' "$dir/topic")" 'stops slowly: 5s of 10s used
last words$'
	ok "an error of the server is one of the command" not run_hook http://127.0.0.1:8099/broken
else
	skip "web hooks" "package curl jq"
fi
finish
