#!/bin/bash
# The commands of swansong-exporter(8) work as they are printed: on a tree with a service that has failed, and one
# that an action restarts, after a shutdown that goes to a collector.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"
requires_package python3 python3

printf '[swansong]\nreport = %s/report.json\n[web/api]\ncommand = %s/idle\n[flaky]\ncommand = false\nrestart = never\n' \
	"$dir" "$helpers" | config
printf "%064d\n" 7 >"$dir/token"
chmod 600 "$dir/token"

# The block of the page that has the text, with the folder of the token.
command_of() { # TEXT
	awk -v text="$1" '
		/^\.Bd -literal/ { block = ""; on = 1; next }
		/^\.Ed/ { if (index(block, text)) printf "%s", block; on = 0 }
		on { block = block $0 "\n" }' "$top_srcdir/man/swansong-exporter.8" |
		sed "s|\\\\e\$|\\\\|; s|/etc/swansong/token|$dir/token|"
}
run() { bash -o pipefail -c "$(command_of "$1")" 2>"$dir/error"; } # TEXT

start_daemon
ok "a service fails" wait_for 10 has_state flaky failed
stop_daemon
is "a tree has ended" "$status" 0
start_daemon
ok "it runs again" wait_for 10 has_state flaky failed
start_exporter --actions --token-file "$dir/token"
ok "the exporter has its state" wait_for 10 shows flaky failed
is "the services that have failed" "$(run /api/tree)" flaky

pid=$(pid_of web/api)
like "an action" "$(run /api/action)" '^\{'
ok "restarts the service" wait_for 10 is_up_anew web/api "$pid"

# A collector, for one request.
cat >"$dir/collector.py" <<'END'
import http.server, sys
class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        with open(sys.argv[1], "wb") as file:
            file.write(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", 4318), Collector).handle_request()
END
python3 "$dir/collector.py" "$dir/spans" 2>/dev/null &
collector=$!
cleanup_fn end_process "$collector"
listens() { ss -Hltn 'sport = 4318' | grep -q .; }
wait_for 10 listens || die "the collector listens"
ok "the last shutdown is sent" run /otlp
wait "$collector"
ok "and the collector has its spans" jq -e '[.resourceSpans[].scopeSpans[].spans[].name] | any(test("web/api"))' "$dir/spans"
end_process "$exporter"
stop_daemon
finish
