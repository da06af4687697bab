#!/bin/bash
# A shutdown as spans of OpenTelemetry: valid by the protocol, one tree of spans, with the times of the report.
# shellcheck disable=SC2016  # the variables are those of jq
. "${0%/*}/lib.sh"
python3 -c 'import jsonschema' 2>/dev/null || skip_all "package python3-jsonschema"

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
ok "all is ready" ctl wait --for ready --timeout 10s
ctl blame --otlp --start >"$dir/spans"
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
ok "the report is printed as spans" ctl blame --otlp --report "$report"
ctl blame --otlp --report "$report" >"$dir/spans"
ok "they are valid" valid "$dir/spans"
is "two prints are the same trace" "$(ctl blame --otlp --report "$report")" "$(cat "$dir/spans")"
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
ctl blame --otlp --start crash >"$dir/spans"
ok "each attempt is a span" test "$(spans '[.[] | select(.name == "crash")] | length')" -ge 2
ok "they are valid, too" valid "$dir/spans"
is "no identifier is there twice in them" "$(spans '[.[].spanId] | (unique | length) == length')" true
is "they are errors" "$(spans '[.[] | select(.name == "crash" or .name == "start") | .status.message] | unique | join(" ")')" failed
ctl blame --start >/dev/null 2>&1
is "--start alone is refused" "$?" 2
stop_daemon

echo '{}' >"$dir/none"
ctl blame --otlp --report "$dir/none" >/dev/null 2>&1
is "another file is refused" "$?" 1
finish
