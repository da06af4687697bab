#!/bin/bash
# Prometheus scrapes the exporter, and probes learn which services are ready.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"
requires_package promtool prometheus
requires_package prometheus prometheus

config <<END
[web]
command = $helpers/idle
[crash]
command = sh -c 'read x <$dir/crash; exit 3'
restart-delay = 10ms
restart-limit = 1/1h
[off]
command = $helpers/idle
autostart = no
END
mkfifo "$dir/crash"
start_daemon
ctl wait --for ready
start_exporter

for path in /metrics /metrics/usage; do
	ok "promtool finds nothing wrong in $path" sh -c "curl -s $url$path | promtool check metrics"
done
used() { get /metrics/usage | sed -n "s/^swansong_service_$1{node=\"web\"} //p"; } # METRIC
is "a service has its processes" "$(used processes)" 1
ok "and memory" test "$(used memory_bytes)" -gt 100000
like "and processor time" "$(used cpu_seconds_total)" '^[0-9]+\.[0-9]{6}$'
is "a service that does not run has none" "$(get /metrics/usage | grep -c 'node="off"')" 0
openmetrics='Accept: application/openmetrics-text;version=1.0.0'
is "OpenMetrics ends with its mark" "$(get /metrics -H "$openmetrics" | tail -n 1)" "# EOF"
like "its type is named" "$(get /metrics -H "$openmetrics" -o /dev/null -w '%{content_type}')" \
	'^application/openmetrics-text; version=1\.0\.0'
is "both formats have the same samples" "$(get /metrics | grep -v '^#')" \
	"$(get /metrics -H "$openmetrics" | grep -v '^#')"

# The alert rules and the dashboard of contrib/prometheus, and the metrics that they name.
contrib=$top_srcdir/contrib/prometheus
ok "the alert rules are rules" promtool check rules "$contrib/swansong.rules.yml"
ok "and fire as their tests expect" promtool test rules "$contrib/swansong.test.yml"
ok "the dashboard is JSON" jq -e '.panels | length > 0' "$contrib/swansong-dashboard.json"
{ get /metrics; get /metrics/usage; } | sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' | sort >"$dir/served"
named() { # FILE...: metrics, without the suffixes of a histogram
	grep -oh 'swansong_[a-z_]*' "$@" | sed 's/_bucket$//' | sort -u
}
is "the metrics that they use are served" \
	"$(named "$contrib/swansong.rules.yml" "$contrib/swansong-dashboard.json" | comm -23 - "$dir/served")" ""
is "the manual has all metrics, and no other" "$(named "$top_srcdir/man/swansong-exporter.8" | diff - "$dir/served")" ""

probes=$(sed -n 's/.*path: \([^,]*\),.*/\1/p' "$top_srcdir/contrib/kubernetes/deployment.yaml")
is "the probes of contrib are paths" "$(for path in $probes; do status_of "$path"; done)" 200200200
is "all is ready" "$(status_of /healthz) $(status_of /readyz) $(status_of /startupz)" "200 200 200"
echo >"$dir/crash"
crashed() { get /metrics | grep -qx 'swansong_service_exits_total{node="crash",kind="status"} 1'; }
ok "an exit is counted" wait_for 5 crashed
echo >"$dir/crash"
ok "a service has failed" wait_for 5 shows crash failed
is "so the tree is not ready" "$(status_of /readyz)" 503
is "with the failed service as the reason" "$(got /readyz '.reasons[]')" "crash: failed"
is "but it lives and has started" "$(status_of /healthz) $(status_of /startupz)" "200 200"

cat >"$dir/prometheus.yml" <<'END'
global: { scrape_interval: 200ms }
scrape_configs:
  - job_name: swansong
    static_configs: [{ targets: ['127.0.0.1:9633'] }]
END
prometheus --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/data" \
	--web.listen-address=127.0.0.1:9090 >"$dir/prometheus.log" 2>&1 &
cleanup_fn end_process $!
value_of() { # EXPRESSION
	curl -s http://127.0.0.1:9090/api/v1/query --data-urlencode "query=$1" |
		jq -r '.data.result[0].value[1]'
}
has_value() { [ "$(value_of "$1" 2>/dev/null)" = "$2" ]; } # EXPRESSION VALUE
ok "Prometheus scrapes it" wait_for 30 has_value swansong_up 1
is "a state" "$(value_of 'swansong_node_state{node="crash"} == 1')" 1
is "exits" "$(value_of 'swansong_service_exits_total{node="crash",kind="status"}')" 2
ctl restart web
ok "the time of a stop" wait_for 10 has_value 'swansong_service_stop_seconds_count{node="web"}' 1
is "in which nothing was killed" "$(value_of 'swansong_forced_kills_total{node="web"}')" 0

# --- The daemon below a keeper is another process after an upgrade ---

stop_daemon
own_program
launch "$swansongd" --keeper -v -c "$ini" --socket "$socket"
wait_for 10 has_value swansong_up 1 || die "the exporter has found the next daemon"
has_usage() { [ "$(used processes)" = 1 ]; }
ok "a service of a keeper has its processes" wait_for 10 has_usage
ctl upgrade >/dev/null || die "an upgrade"
ok "for a client from before" wait_for 5 has_usage
end_process "$exporter"
start_exporter
ok "and for a new one" has_usage

end_process "$daemon"
ok "the end of the daemon is seen" wait_for 10 has_value swansong_up 0
is "a probe fails" "$(status_of /healthz) $(status_of /readyz) $(status_of /startupz)" "503 503 503"
is "with the reason" "$(got /healthz '.reasons[]')" "the daemon does not answer"
is "no node has a sample" "$(get /metrics | grep -c '^swansong.*node=')" 0
finish
