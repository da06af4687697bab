#!/bin/bash
# The exporter serves the past: the figures of the history.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"

history=$dir/history.jsonl
config <<END
[swansong]
report = $dir/report.json
[web/api]
command = $helpers/idle
[db]
command = $helpers/idle
END
start_daemon
ctl wait --for ready --timeout 10s
start_exporter

# --- The history ---

has_ends() { gets "/api/history/$1" '.nodes[0].ends' "$2"; } # NODE ENDS
ok "before the first end no node has figures" wait_for 5 gets /api/history '.nodes | length' 0
ctl restart web/api >/dev/null
ok "an end is in the figures" wait_for 5 has_ends web/api 1
ctl restart db >/dev/null
ok "so is the next one" wait_for 5 has_ends db 1
is "the page of a node has its ends" "$(got /api/node/db '.ends[] | "\(.forced) \(.why)"')" "false asked"
is "and its availability" "$(got /api/node/db '.availability | "\(.causes.planned.outages) \(.outages | length) \(.ready_usec > 0)"')" "1 1 true"
is "which is that of swansongctl" "$(got /api/node/db '.availability.outages')" "$(ctl availability db --json | jq '.nodes[0].outages')"
is "and none if there are none" "$(got /api/node/web .ends)" null
is "they are those of swansongctl" "$(got /api/history . | jq -cS .)" "$(ctl history --json | jq -cS .)"
is "a group has the nodes in it" "$(got /api/history/web '[.nodes[].node] | join(" ")')" web/api
is "a node that has not ended has none" "$(status_of /api/history/web/no) $(got /api/history/web/no .error)" \
	"404 the history has no such node"
line=$(jq -c 'select(.total_usec)' "$history" | head -n 1)
printf 'garbage\n\0\377\n' >>"$history"
ok "garbage is counted" wait_for 5 gets /api/history .skipped 2
truncate -s 6M "$history"
is "a file that is too large is refused" "$(status_of /api/history) $(got /api/history .error)" "404 File too large"
yes "$line" | head -n 10000 >"$history.20260101T000000.000000"
rm "$history"
mkfifo "$history"
ok "a pipe is refused" wait_for 5 gets /api/history .error "not a regular file"
rm "$history"
echo "$line" >"$history"
is "a history that failed after a long reading is not read again at once" "$(got /api/history .error)" "not a regular file"
ok "but later" wait_for 60 gets /api/history/web/api '.nodes[0].ends' 10001
rm "$history"*
is "without a file there is no history" "$(status_of /api/history) $(got /api/history .file)" "404 $history"
is "with the reason" "$(got /api/history .error)" "No such file or directory"

sed -i "/^report/a history = $dir/ends" "$ini"
ctl reload >/dev/null
ok "a reload changes the file" wait_for 5 gets /api/history .file "$dir/ends"
ctl restart db >/dev/null
ok "which has its ends" wait_for 5 has_ends db 1
sed -i 's/^history = .*/history = none/' "$ini"
ctl reload >/dev/null
ok "no file is none" wait_for 5 gets /api/history .error "the daemon writes no such file: set history or report in [swansong]"

end_process "$exporter"
start_exporter --history "$dir/ends"
is "another file can be named" "$(got /api/history .file)" "$dir/ends"
stop_daemon
is "it is read without a daemon, too" "$(got /api/history/db '.nodes[0].ends')" 1
finish
