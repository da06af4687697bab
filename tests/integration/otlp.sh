#!/bin/bash
# contrib/otlp: a shutdown as spans of OpenTelemetry, valid by the protocol, one tree of spans, with the times of the
# report; and lines of services, of which none is lost while a collector is away for a moment or the tree is shut down.
# shellcheck disable=SC2016  # the variables are those of jq
. "${0%/*}/lib.sh"
python3 -c 'import jsonschema' 2>/dev/null || skip_all "package python3-jsonschema"

otlp=$(realpath "$top_srcdir")/contrib/otlp/swansong-otlp
SWANSONGCTL=$(realpath "$swansongctl")
export SWANSONGCTL
report=$dir/report.json
valid() { # FILE
	python3 -c 'import json, jsonschema, sys
jsonschema.Draft7Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))' \
		"$top_srcdir/tests/integration/otlp.schema.json" "$1"
}
spans() { jq -r ".resourceSpans[0].scopeSpans[0].spans | $1" "$dir/spans"; }

# --- The schema ---

cat >"$dir/example" <<'END2'
{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"s"}}]},
"scopeSpans":[{"scope":{"name":"l","version":"1","attributes":[{"key":"a","value":{"intValue":"-1"}}]},
"spans":[{"traceId":"00112233445566778899AABBCCDDEEFF","spanId":"0123456789ABCDEF","parentSpanId":"0123456789ABCDEE",
"name":"n","startTimeUnixNano":1544712660000000000,"endTimeUnixNano":"1544712661000000000","kind":2,"attributes":[]}]}]}]}
END2
ok "the schema takes the forms of the protocol" valid "$dir/example"
wrong() { # NAME FROM TO
	sed "s|$2|$3|" "$dir/example" >"$dir/wrong"
	ok "the schema refuses $1" not valid "$dir/wrong"
}
wrong "an identifier that is too short" 0123456789ABCDEF 123456789ABCDEF
wrong "an identifier of zeroes" 0123456789ABCDEF 0000000000000000
wrong "a name in the form of the proto files" startTimeUnixNano start_time_unix_nano
wrong "a value without its type" '{"stringValue":"s"}' '"s"'
wrong "another kind" '"kind":2' '"kind":"SPAN_KIND_SERVER"'

# --- A shutdown ---

config <<END2
[swansong]
report = $report
[data/redis]
command = $helpers/idle
[web/nginx]
command = $helpers/idle
requires = data/redis
drain-delay = 100ms
start-command = true
[stubborn]
command = $helpers/stubborn
stop-timeout = 200ms
[held]
shutdown-timeout = 300ms
END2
start_daemon
ok "all is ready" ctl wait --for ready --timeout 60s
"$otlp" --start >"$dir/spans"
ok "the start is printed as spans, which are valid" valid "$dir/spans"
is "all spans are of the same trace" "$(spans '"\([.[].traceId] | unique | length) \([.[].spanId] | (unique | length) == length) \([.[] | select(.parentSpanId == null) | .name])"')" \
	'1 true ["start"]'
is "each service has a span" "$(spans '.[0].spanId as $root | [.[] | select(.parentSpanId == $root) | .name] | sort | join(" ")')" "data/redis stubborn web/nginx"
is "with its states" "$(spans '(.[] | select(.name == "web/nginx") | .spanId) as $id | [.[] | select(.parentSpanId == $id) | .name] | join(" ")')" \
	"preparing starting"
is "a service with a requirement begins when that is up" \
	"$(spans '(.[] | select(.name == "data/redis") | .endTimeUnixNano) as $before | .[] | select(.name == "web/nginx") | .startTimeUnixNano >= $before')" true
ok "stubborn is up" wait_for 10 has_state stubborn up
"$swansongctl" guard held --why $'a "dump"\xff of <b>' -- sleep 60 >/dev/null 2>&1 &
cleanup_fn end_process "$!"
holds() { [ "$(ctl guards held --json | jq '.guards | length')" = 1 ]; }
ok "a lease is held" wait_for 10 holds
stop_daemon 20
is "the end is forced" "$status" 124
ok "the report is printed as spans" "$otlp" --report "$report"
"$otlp" --report "$report" >"$dir/spans"
ok "they are valid" valid "$dir/spans"
is "two prints are the same trace" "$("$otlp" --report "$report")" "$(cat "$dir/spans")"
is "all spans are of one trace" "$(spans '[.[].traceId] | unique | length')" 1
is "no identifier is there twice" "$(spans '[.[].spanId] | (unique | length) == length')" true
is "a single span has no parent" "$(spans '[.[] | select(.parentSpanId == null) | .name] | join(" ")')" shutdown
is "all parents are there" "$(spans '[.[].spanId] as $all | [.[].parentSpanId | select(.)] - $all | length')" 0
is "times are strings, and no span ends before it begins" \
	"$(spans 'all(.[]; (.startTimeUnixNano | type) == "string" and (.startTimeUnixNano | tonumber) <= (.endTimeUnixNano | tonumber))')" true
is "the whole has the time of the report" "$(spans '.[0].startTimeUnixNano')" "$(jq .time_usec "$report")000"
name_of() { spans ".[] | select(.name == \"$1\") | $2"; }
is "a node is below the node that it is in" \
	"$(spans '(map({key: .spanId, value: .name}) | from_entries) as $names | .[] | select(.name == "web/nginx") | $names[.parentSpanId]')" web
is "the states of a service are below it" \
	"$(spans '(.[] | select(.name == "web/nginx") | .spanId) as $id | [.[] | select(.parentSpanId == $id) | .name] | join(" ")')" \
	"draining waiting stopping process"
is "a forced end is an error" "$(name_of killing .status.code) $(name_of lease .status.code) $(name_of web .status)" "2 2 null"
is "texts of others are whole" "$(name_of lease '.attributes[] | select(.key == "swansong.guard.why") | .value.stringValue')" \
	"$(jq -r '.nodes[].guards[] | select(.kind == "lease") | .why' "$report")"
is "numbers are strings" "$(name_of lease '.attributes[] | select(.key == "process.pid") | .value.intValue | type')" string

# --- A start that fails ---

config <<END2
[crash]
command = sh -c 'exit 3'
ready = exec:false
restart-delay = 10ms
restart-limit = 2/10s
END2
start_daemon
ok "a service fails for good" wait_for 10 has_state crash failed
"$otlp" --start crash >"$dir/spans"
ok "each attempt is a span" test "$(spans '[.[] | select(.name == "crash")] | length')" -ge 2
ok "they are valid, too" valid "$dir/spans"
is "no identifier is there twice in them" "$(spans '[.[].spanId] | (unique | length) == length')" true
is "they are errors" "$(spans '[.[] | select(.name == "crash" or .name == "start") | .status.message] | unique | join(" ")')" failed
"$otlp" --start crash web >/dev/null 2>&1
is "two nodes are refused" "$?" 2
"$otlp" --start nowhere >/dev/null 2>"$dir/error"
is "an unknown node has the status of swansongctl" "$?" 4
"$otlp" --logs >/dev/null 2>&1
is "lines need a collector" "$?" 2
stop_daemon

echo '{}' >"$dir/none"
"$otlp" --report "$dir/none" >/dev/null 2>&1
is "another file is refused" "$?" 1
"$otlp" --start >/dev/null 2>&1
is "without a daemon there are no starts" "$?" 3

# --- A collector ---

# It answers with the status in a file, and with the text behind that; what it takes is a line of its own.
cat >"$dir/collector.py" <<'END'
import http.server, json, os, sys
folder = sys.argv[1]
class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(os.path.join(folder, "answer")) as file:
            status, text = file.read().rstrip("\n").split(" ", 1)
        if status == "200":
            with open(os.path.join(folder, "taken"), "a") as file:
                print(json.dumps({"path": self.path, "type": self.headers["Content-Type"],
                                  "token": self.headers["X-Token"], "body": json.loads(body)}), file=file)
        with open(os.path.join(folder, "asked"), "a") as file:
            print(status, file=file)
        self.send_response(int(status))
        if status == "302":
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
http.server.ThreadingHTTPServer(("127.0.0.1", 4318), Collector).serve_forever()
END
url=http://127.0.0.1:4318
listens() { ss -Hltn 'sport = 4318' | grep -q .; }
answer() { echo "$1 ${2:-}" >"$dir/answer.new" && mv "$dir/answer.new" "$dir/answer"; } # STATUS [TEXT]
start_collector() {
	python3 "$dir/collector.py" "$dir" 2>/dev/null &
	collector=$!
	cleanup_fn end_process "$collector"
	wait_for 10 listens || die "the collector listens"
}
stop_collector() {
	end_process "$collector"
	wait_for 10 not listens || die "the collector has gone"
}

answer 200 '{}'
: >"$dir/taken"
start_collector
ok "a shutdown is sent" env OTEL_EXPORTER_OTLP_HEADERS='a=b,x-token=Bearer%20abc' "$otlp" --report "$report" --to "$url/"
is "to the path of traces, as JSON, with the header" "$(jq -r '"\(.path) \(.type) \(.token)"' "$dir/taken")" \
	"/v1/traces application/json Bearer abc"
is "it is what is printed" "$(jq -cS .body "$dir/taken")" "$("$otlp" --report "$report" | jq -cS .)"
refuses() { # NAME STATUS TEXT MESSAGE
	local exit_status=0
	answer "$2" "$3"
	"$otlp" --report "$report" --to "$url" 2>"$dir/error" || exit_status=$?
	is "$1" "$exit_status" 1
	like "with a message" "$(cat "$dir/error")" "^swansong-otlp: $url/v1/traces: $4\$"
}
refuses "a refusal is reported" 400 'no such tenant' 'refused: 400 Bad Request: no such tenant'
refuses "so is a collector that is too busy" 503 '' 'not sent: 503 Service Unavailable'
refuses "another address is not followed" 302 '' 'refused: 302 Found'
refuses "spans that are left out are reported" 200 '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}' \
	'2 spans refused: too old'
stop_collector
refuses "so is a collector that is away" 200 '' 'not sent: .*refused'

# --- Lines ---

# An independent writer, whose output is what the story writes to its pipe, and one that writes much at its stop.
mkfifo "$dir/out" "$dir/err"
cat >"$dir/last-words" <<-'END'
	#!/bin/sh
	trap 'seq -f "last %g" 1 700; exit 0' TERM
	echo ready
	while :; do sleep 60 & wait "$!"; done
END
chmod +x "$dir/last-words"
tree() { # [LINE...]
	config <<-END
	[swansong]
	report = $report
	[web/app]
	command = sh -c 'exec cat <>$dir/out'
	log = file:$dir/app.log
	[web/noisy]
	command = sh -c 'exec cat <>$dir/err >&2'
	stdout = null
	stderr = file:$dir/noisy.log
	[web/last]
	command = $dir/last-words
	ready = log:ready
	log = file:$dir/last.log
	END
	printf '%s\n' "$@" >>"$ini"
}
begin() { # OPTION...: follows the lines, and its first one has come
	"$otlp" --logs "$@" --to "$url" 2>"$dir/otlp.log" &
	sender=$!
	cleanup_fn end_process "$sender"
	follows() { echo probe >"$dir/out" && has_line probe; }
	wait_for 20 follows || die "the lines are followed"
}
records() { jq -c 'select(.path == "/v1/logs").body.resourceLogs[].scopeLogs[].logRecords[]' "$dir/taken"; }
bodies() { records | jq -r '.body.stringValue'; }
has_line() { bodies | grep -qx -- "$1"; } # LINE
record() { records | jq -c "select(.body.stringValue == \"$1\") | $2"; } # LINE JQ-FILTER
attribute() { record "$1" ".attributes[] | select(.key == \"$2\").value | .stringValue // .intValue"; } # LINE KEY
await_sender() { # SECONDS
	sender_status=none
	wait_for "$1" gone "$sender" && { wait "$sender"; sender_status=$?; }
}
counted() { # REGEX: the counts are these
	kill -USR1 "$sender" && tail -n 1 "$dir/otlp.log" | grep -Eqx "swansong-otlp: $1"
}

tree
start_daemon
ok "all is ready" ctl wait --for ready --timeout 60s
answer 200 '{}'
: >"$dir/taken"
start_collector
begin web
before=$(date +%s%N)
printf '<3>disk full\nplain ü\n' >"$dir/out"
echo 'to err' >"$dir/err"
ok "a line comes" wait_for 10 has_line 'disk full'
ok "a line without a level comes, too" wait_for 10 has_line 'plain ü'
ok "and one of standard error" wait_for 10 has_line 'to err'
is "the prefix is the severity" "$(record 'disk full' '[.severityNumber, .severityText]') $(record 'plain ü' .severityNumber)" \
	'[17,"error"] null'
is "a line has its node and stream" "$(attribute 'to err' swansong.node) $(attribute 'to err' log.iostream)" \
	'"web/noisy" "stderr"'
is "and its process" "$(attribute 'plain ü' process.pid)" "\"$(pid_of web/app)\""
at=$(record 'plain ü' .timeUnixNano | tr -d '"')
ok "the time is that of the line" test "$at" -ge $((before - 1000000000)) -a "$at" -le "$(date +%s%N)"
is "the resource is the daemon" \
	"$(jq -r 'select(.path == "/v1/logs").body.resourceLogs[].resource.attributes[] | select(.key == "service.name").value.stringValue' "$dir/taken" | sort -u)" swansongd

# --- A collector that is away for a moment ---

all_of() { # WORD NUMBER: each line once, in their order
	bodies | sed -n "s/^$1 //p" | cmp -s - <(seq "$2")
}
stop_collector
seq -f 'away %g' 3000 >"$dir/out"
ok "it is named as away" wait_for 10 says "$dir/otlp.log" 'not sent: .*: lines are kept$'
ok "the lines wait" wait_for 10 counted '[0-9]+ lines sent, 0 lost, 3000 waiting'
start_collector
ok "it gets each of them once when it is there" wait_for 40 all_of away 3000
ok "and is named as back" wait_for 10 says "$dir/otlp.log" 'takes lines again$'
largest=$(jq 'select(.path == "/v1/logs") | [.body.resourceLogs[].scopeLogs[].logRecords[]] | length' "$dir/taken" | sort -n | tail -n 1)
is "a batch has at most 500 lines" "$largest" 500
answer 503 ''
: >"$dir/asked"
seq -f 'busy %g' 10 >"$dir/out"
ok "a collector that is busy is asked again" wait_for 20 eval '[ "$(grep -c 503 "$dir/asked")" -ge 2 ]'
answer 200 '{}'
ok "until it takes the lines" wait_for 40 all_of busy 10
is "nothing is lost" "$(grep ' lost' "$dir/otlp.log" | grep -vc ' 0 lost')" 0

# --- Refusals ---

answer 200 '{"partialSuccess":{"rejectedLogRecords":"1"}}'
echo 'partly' >"$dir/out"
ok "a line that the collector leaves out is lost" wait_for 10 counted '[0-9]+ lines sent, 1 lost, 0 waiting'
answer 400 'bad'
printf 'a\nb\n' >"$dir/out"
ok "so are those that it refuses" wait_for 10 counted '[0-9]+ lines sent, 3 lost, 0 waiting'
answer 200 '{}'

# --- A collector that stays away ---

sent=$(tail -n 1 "$dir/otlp.log" | sed 's/^[^0-9]*\([0-9]*\) lines sent.*/\1/')
stop_collector
seq 12000 >"$dir/out"
ok "lines beyond the limit are lost" wait_for 20 counted "$sent lines sent, 2003 lost, 10000 waiting"
begun=$(now)
kill -TERM "$sender"
await_sender 30
is "it ends with a status for that" "$sender_status" 1
within "in five seconds, and those of a busy machine" $(($(now) - begun)) 0 20000
like "and counts the others" "$(tail -n 1 "$dir/otlp.log")" "^swansong-otlp: $sent lines sent, 12003 lost\$"

# --- A shutdown in the middle ---

start_collector
: >"$dir/taken"
begin
seq -f 'before %g' 100 >"$dir/out"
wait_for 10 has_line 'before 100'
kill -TERM "$sender"
await_sender 10
is "it ends by itself" "$sender_status" 0
like "and has lost nothing" "$(tail -n 1 "$dir/otlp.log")" '^swansong-otlp: [0-9]+ lines sent, 0 lost$'
: >"$dir/taken"
begin web
stop_daemon
is "the tree is complete" "$status" 0
await_sender 10
ok "it ends with the daemon" test "$sender_status" != none
ok "the last lines have arrived" all_of last 700
like "none is lost" "$(tail -n 1 "$dir/otlp.log")" '^swansong-otlp: [0-9]+ lines sent, 0 lost$'

# The service of README.md, with the groups of this tree.
sed -n '/^    \[otlp\]$/,/^$/s/^    //p' "$top_srcdir/contrib/otlp/README.md" |
	sed "s|/usr/libexec/swansong/swansong-otlp|$otlp|; s|= web data|= web|" >"$dir/section"
tree "$(cat "$dir/section")" 'log = null'
ok "the page has a service" "$swansongctl" check "$ini"
: >"$dir/taken"
start_daemon
ok "it runs" wait_for 10 has_state otlp up
ok "and sends lines" wait_for 20 eval 'echo probe >"$dir/out" && has_line probe'
seq -f 'in time %g' 100 >"$dir/out"
wait_for 10 says "$dir/app.log" 'in time 100' || die "the service has written them"
stop_daemon
is "a shutdown of the tree is complete" "$status" 0
ok "the collector has the last lines of the others" all_of last 700
ok "and those just before" all_of 'in time' 100
finish
