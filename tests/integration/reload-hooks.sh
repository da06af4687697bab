#!/bin/bash
# A reload changes the commands around a run for the next one, and those of a node for its end.
. "${0%/*}/lib.sh"

trace=$dir/trace secrets=$dir/secrets
: >"$trace"
mkfifo "$dir/go"
say() { printf "%s = sh -c 'echo %s >>%s'\n" "$1" "$2" "$trace"; } # KEY WORD
shows() { # WORD...: the trace is these
	[ "$(cat "$trace")" = "$(printf '%s\n' "$@")" ] || { cat "$trace"; return 1; }
}

echo KEY=hush >"$secrets"
{
	service web; say post-stop old-stop
	echo '[group]'; say final old-final; service group/one
	service plain/one
	service secret; echo "environment-file = $secrets"
} | config
start_daemon
ok "all becomes ready" ctl wait --for ready --timeout 60s
web=$(pid_of web) one=$(pid_of group/one) plain=$(pid_of plain/one)

{
	service web; say start-command new-start; say post-stop new-stop; say reload-command new-reload
	echo '[group]'; say final new-final; service group/one
	echo '[plain]'; say final plain-final; service plain/one
	service secret; echo "environment-file = $secrets"
} | config
ok "commands are changed" ctl reload
is "for which nothing is restarted" "$(pid_of web) $(pid_of group/one) $(pid_of plain/one)" \
	"$web $one $plain"
ok "a restart" ctl restart web --timeout 60s
ok "ends the run with its old commands, and begins the next with the new ones" \
	shows old-stop new-start
ok "which has the new reload-command" ctl reload web
ok "and runs it" wait_for 5 shows old-stop new-start new-reload
ok "and is over" wait_for 5 says "$log" 'web: reloaded'
ok "it is stopped" ctl stop web --timeout 60s
ok "with the new post-stop" shows old-stop new-start new-reload new-stop

: >"$trace"
ok "a node that had a final action" ctl stop group --timeout 60s
ok "has the new one" shows new-final
: >"$trace"
ok "a service without one before" ctl stop plain --timeout 60s
ok "has none yet" shows
ok "when it is back" ctl start plain --timeout 60s
ok "and ends again" ctl stop plain --timeout 60s
ok "it has" shows plain-final

# In the middle of an action.
: >"$trace"
block="final = sh -c 'read -r _ <$dir/go'"
{ echo '[group]'; say final second; echo "$block"; service group/one; } | config
ok "an action that waits" ctl reload
ctl start -q group --timeout 10s
ctl stop -q group --no-wait
ok "runs" wait_for 5 says "$log" 'group: final: started sh, pid [0-9]+'
{ echo '[group]'; say final third; service group/one; } | config
ok "a reload meanwhile" ctl reload
echo >"$dir/go"
ok "lets it end" ctl wait group --for complete --timeout 60s
ok "as it began" wait_for 5 shows second
ctl start -q group --timeout 10s
ok "the next end" ctl stop group --timeout 60s
ok "is the other" shows second third

# Values of files that not every user may read.
{ service secret; echo "environment-file = $secrets"; } | config
ctl reload -q
echo KEY=psst >"$secrets"
ctl reload --dry-run >"$dir/plan"
like "of a variable the name is shown" "$(cat "$dir/plan")" 'change +secret +environment +KEY +KEY +now'
ok "and no value" not says "$dir/plan" "hush|psst"
ok "nor to programs" not eval 'ctl reload --dry-run --json | grep -E "KEY=|hush|psst"'
secret=$(pid_of secret)
ok "it is taken" ctl reload
ok "by a restart" ctl wait secret --for ready --timeout 60s
is "with the new value" "$(tr '\0' '\n' <"/proc/$(pid_of secret)/environ" | grep ^KEY)" KEY=psst
ok "in a new process" gone "$secret"
stop_daemon
ok "nothing is left" wait_for 5 nobody_else
finish
