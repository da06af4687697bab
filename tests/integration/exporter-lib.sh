# shellcheck shell=bash
# Functions of the stories of swansong-exporter, after lib.sh.

requires_package curl curl
[ -x "$top_builddir/swansong-exporter" ] || skip_all "package libmicrohttpd-dev"
exporter_log=$dir/exporter.log
url=http://127.0.0.1:9633

start_exporter() { # [OPTION...]; $descriptors_max is its limit of descriptors, if it is set
	: >"$exporter_log" # which another one may have written
	{
		ulimit -n "${descriptors_max:-$(ulimit -Hn)}"
		exec "$(program swansong-exporter)" --socket "$socket" "$@" >"$exporter_log" 2>&1 </dev/null
	} &
	exporter=$!
	cleanup_fn end_process "$exporter"
	wait_for 10 says "$exporter_log" 'nodes$' || die "the exporter has a copy of the tree"
}

get() { curl -s --max-time 60 "$url$1" "${@:2}"; }                             # PATH [OPTION...]
got() { get "$1" | jq -r "$2"; }                                               # PATH JQ-FILTER
gets() { [ "$(got "$1" "$2")" = "$3" ]; }                                      # PATH JQ-FILTER VALUE
status_of() { get "$1" -o /dev/null -w '%{http_code}' "${@:2}"; }              # PATH [OPTION...]
node_state() { got /api/tree ".nodes[] | select(.path == \"$1\").service.state"; } # NODE
shows() { [ "$(node_state "$1")" = "$2" ]; }                                   # NODE STATE

# A stream of events in the file.
listen_to_events() { # FILE
	curl -sN "$url/events" >"$1" &
	cleanup_fn end_process $!
	wait_for 10 says "$1" '^event: guard' || die "the stream of events begins"
}
# The data of the events of that name.
events_of() { sed -n "/^event: $2\$/{n;s/^data: //p;}" "$1"; }          # FILE NAME
has_event() { events_of "$1" "$2" | jq -e "$3" 2>/dev/null | grep -q true; } # FILE NAME JQ-CONDITION
