#!/bin/bash
# A reload starts new services, stops removed ones, touches nothing else; a mistake changes nothing.
. "${0%/*}/lib.sh"

{ service stays; service goes; } | config
start_daemon
ctl wait --for ready
stays=$(pid_of stays)
goes=$(pid_of goes)

{ service stays; service comes; } | config
kill -HUP "$daemon"
ok "SIGHUP starts new services" wait_for 5 has_state comes up
ok "and stops removed ones" wait_for 5 gone "$goes"
is "an unchanged service is not touched" "$(pid_of stays)" "$stays"
comes=$(pid_of comes)

{ service stays; service goes; echo 'comand = x'; } | config
ctl reload >"$dir/reload" 2>&1
is "a mistake fails the reload" "$?" 1
like "and is reported to the client" "$(cat "$dir/reload")" "$ini:5: .*comand"
is "and changes nothing" "$(pid_of stays) $(pid_of comes) $(field goes .state)" "$stays $comes "
kill -HUP "$daemon"
ok "with SIGHUP the mistake is logged" wait_for 5 says "$log" "$ini:5: .*comand"
is "and changes nothing, too" "$(pid_of stays) $(pid_of comes)" "$stays $comes"

{ service stays; service goes; } | config
ok "the next one works again" ctl reload
ok "a new service is started" wait_for 5 has_state goes up
ok "and a removed one is stopped" wait_for 5 gone "$comes"

{ service stays; service goes; echo 'umask = 077'; } | config
goes=$(pid_of goes)
ok "a change of a service is taken" ctl reload
ok "the changed key is named" says "$log" 'goes: umask has changed'
ok "a service with a changed attribute gets a new process" wait_for 5 gone "$goes"
ok "which is up again" ctl wait --timeout 60s --for ready
is "of the next generation" "$(field goes .generation)" 2
is "with the new value" "$(grep Umask "/proc/$(pid_of goes)/status")" $'Umask:\t0077'
is "and nothing else is touched" "$(pid_of stays)" "$stays"

{ service stays; service goes; echo 'umask = 077'; echo 'stop-signal = INT'; } | config
goes=$(pid_of goes)
ok "a change that needs none is taken" ctl reload
is "where it is" "$(pid_of goes)" "$goes"
ctl stop goes
ok "and counts at once" says "$log" "goes: SIGINT to pid $goes"

# A stopped service stays stopped, even if its settings change.
{ service stays; service goes; echo 'umask = 027'; } | config
ok "a change of a stopped service is accepted" ctl reload
is "and starts nothing" "$(state goes)" down
ctl start goes
is "and its next start has the new value" "$(grep Umask "/proc/$(pid_of goes)/status")" $'Umask:\t0027'

# A dependent goes first, and comes back last.
{ service stays; service goes; echo 'requires = db'; service db; } | config
ctl reload && ctl wait --timeout 5s --for ready
goes=$(pid_of goes) db=$(pid_of db)
{ service stays; service goes; printf '%s\n' 'requires = db' 'environment = A=1'
	service db; echo 'environment = A=1'; } | config
ok "two that need each other are changed" ctl reload
ok "and both are up again" ctl wait --timeout 60s --for ready
is "as new ones" "$(gone "$goes" "$db" && echo gone)" gone
ok "in the order of their edges" in_order "goes: SIGTERM to pid $goes" "db: SIGTERM to pid $db" \
	"db: started, pid $(pid_of db)" "goes: started, pid $(pid_of goes)"

# A dry run reports the changes and makes none.
{ service stays; echo 'stop-timeout = 3s'; service renamed; echo 'ready = notify'; service db
	echo 'directory = /tmp'; } | config
ctl reload --dry-run >"$dir/plan"
is "a dry run succeeds" "$?" 0
like "it names new services" "$(cat "$dir/plan")" 'add +renamed +is started'
like "and goes" "$(cat "$dir/plan")" 'remove +goes +is stopped'
like "and changes" "$(cat "$dir/plan")" 'change +stays +stop-timeout +10s +3s +now'
like "and services that are restarted" "$(cat "$dir/plan")" \
	'change +db +directory +- +/tmp +now, by a restart.*change +db +environment +A +- +now, by'
is "JSON has them, too" "$(ctl reload --dry-run --json | jq -c '.changes | map([.kind, .node, .restart])')" \
	'[["change","stays",false],["add","renamed",false],["change","db",true],["remove","goes",false]]'
is "and nothing has changed" "$(pid_of stays) $(pid_of goes) $(pid_of db) $(field renamed .path)" \
	"$stays $(pid_of goes) $(pid_of db) "
{ service sleeps; echo 'autostart = no'; } >>"$ini"
like "a service without autostart is marked" "$(ctl reload --dry-run)" 'add +sleeps +waits to be started'
echo 'mistake' >>"$ini"
: >"$log"
is "a mistake is reported to the client" "$(ctl reload --dry-run 2>&1 | grep -c "$ini:")" 1
ok "and not logged" not says "$log" "$ini:"

# A service that becomes autostart is started, unless an operator has stopped it.
{ service stays; service sleeps; echo 'autostart = no'; service other; echo 'autostart = no'; } | config
ctl reload -q && ctl wait -q --timeout 5s --for ready
is "a service without autostart is not started" "$(state sleeps)" down
ctl start -q other && ctl stop -q other
{ service stays; service sleeps; service other; } | config
ctl reload --dry-run >"$dir/plan"
like "it is to be from now on" "$(cat "$dir/plan")" 'change +sleeps +autostart +no +yes +now: starts the service'
like "but a stopped service would not be" "$(cat "$dir/plan")" 'change +other +autostart +no +yes +now[[:cntrl:]]'
ok "the reload is done" ctl reload
ok "and is" wait_for 5 has_state sleeps up
is "but not the stopped one" "$(state other)" down
sleeps=$(pid_of sleeps)
{ service stays; service sleeps; echo 'autostart = no'; } | config
ok "it is not to be any more" ctl reload
is "and goes on" "$(pid_of sleeps)" "$sleeps"

# A removed service counts until it has ended, and a new one of its name waits for its end.
# shellcheck disable=SC2016  # for the other shell
busy() { printf '[busy]\ncommand = sh -c "trap : TERM; echo begun as \$0; while [ -e %s ]; do sleep 0.02; done" %s\n' \
	"$dir/work" "$1"; }
touch "$dir/work"
{ service stays; busy one; } | config
ctl reload -q && ctl wait -q --timeout 5s --for ready
busy=$(pid_of busy)
service stays | config
ctl reload -q
ok "a section that is gone holds its node while it works" wait_for 5 has_state busy stopping
is "and is counted above" "$(ctl guards / --json | jq '[.guards[] | select(.node == "busy")] | length')" 1
{ service stays; busy two; } | config
ok "it comes back meanwhile" ctl reload
{ service stays; busy three; } | config
kill -HUP "$daemon"
kill -HUP "$daemon"
ok "and is changed, twice at once" wait_for 5 says "$log" 'busy: command has changed'
not gone "$busy"
is "and still works" "$? $(pid_of busy) $(state busy)" "0 $busy stopping"
rm "$dir/work"
ok "when it has ended" wait_for 5 gone "$busy"
ok "the next generation has its turn" wait_for 5 says "$log" 'begun as three'
ok "with the last word" not says "$log" 'begun as two'

# Groups and services.
{ service stays; service stays/below; } | config
below=
ctl reload -q && ctl wait -q --timeout 5s --for ready
below=$(pid_of stays/below)
{ echo '[stays]'; service stays/below; } | config
ok "a service becomes a group" ctl reload
ok "its process goes" wait_for 5 gone "$stays"
no_service() { [ "$(field stays .service)" = null ]; }
ok "and the service" wait_for 5 no_service
ok "the services below are back" ctl wait --timeout 60s --for ready
is "as another one" "$(gone "$below" && echo gone)" gone
{ service stays; service stays/below; } | config
below=$(pid_of stays/below)
like "a group is to become a service" "$(ctl reload --dry-run)" 'change +stays +command +- .* now: starts the service'
ok "and does" ctl reload
ok "which is started" wait_for 5 has_state stays up
stays=$(pid_of stays)
is "and nothing else" "$(pid_of stays/below)" "$below"

for i in {1..50}; do
	{ service stays; service "round$i"; } | config
	ctl reload >"$dir/reload" || break
done
is "fifty more" "$i" 50
ok "leave the tree of the last one" wait_for 10 has_state round50 up
is "and the one that always stayed" "$(pid_of stays)" "$stays"
one_of_each() { [ "$(pgrep -c -x idle)" = 2 ]; }
ok "and nothing else" wait_for 10 one_of_each

# In the end there is nothing to be reloaded.
{ service stays; busy last; } | config
touch "$dir/work"
ctl reload -q && ctl wait -q --timeout 5s --for ready
ctl shutdown -q --no-wait
ok "a reload during the shutdown is refused" not ctl reload
ok "with the reason" says "$log" 'the tree is shutting down|the reload is refused'
rm "$dir/work"
await_daemon 10
is "the end is graceful" "$status" 0
ok "and complete" wait_for 10 nobody_else

# --- Notifications of the parent manager ---------------------------------------------------------

# Type=notify-reload of systemd waits for RELOADING=1 with a time that is not before the signal, in the same
# message, and then for READY=1, with either result.
command -v python3 >/dev/null || { skip "notifications of the parent manager" "package python3"; finish; }
python3 "$top_srcdir/tests/helpers/notify-log.py" "$dir/above" "$dir/said" &
cleanup_fn end_process $!
wait_for 10 test -e "$dir/said" || die "the socket of the parent manager is there"
service stays | config
NOTIFY_SOCKET=$dir/above start_daemon
wait_for 10 says "$dir/said" READY=1 || die "READY=1 is sent"
# The messages about reloads, without their times.  A stop that lasts has two: its beginning, and its end.
said() {
	grep -oE 'RELOADING=1|READY=1|STOPPING=1' "$dir/said" | uniq | paste -sd ' '
}
has_said() { [ "$(said)" = "$*" ] || { cat "$dir/said"; return 1; }; }
before=$(python3 -c 'import time; print(time.monotonic_ns() // 1000)')
{ service stays; service comes; } | config
kill -HUP "$daemon"
ok "a reload by SIGHUP begins and ends" wait_for 10 has_said READY=1 RELOADING=1 READY=1
like "with its time in the same message" "$(grep -m 1 RELOADING "$dir/said")" \
	'^[0-9.]+ RELOADING=1 MONOTONIC_USEC=[0-9]+$'
ok "which is not before the signal" test "$(sed -n 's/.*MONOTONIC_USEC=//p' "$dir/said")" -ge "$before"
like "and its result" "$(grep READY "$dir/said" | tail -n 1)" 'READY=1 STATUS='
echo mistake >>"$ini"
kill -HUP "$daemon"
ok "a reload with a mistake does, too" wait_for 10 has_said READY=1 RELOADING=1 READY=1 RELOADING=1 READY=1
like "and its result" "$(grep READY "$dir/said" | tail -n 1)" 'Reload refused'
{ service stays; service comes; } | config
ctl reload -q
ok "and a reload by request" wait_for 10 \
	has_said READY=1 RELOADING=1 READY=1 RELOADING=1 READY=1 RELOADING=1 READY=1
ctl reload --dry-run >"$dir/plan"
ctl reload stays >"$dir/plan"
ctl stop comes >"$dir/plan"
stop_daemon
ok "but neither a dry run, nor a reload or a stop of less than all" wait_for 10 \
	has_said READY=1 RELOADING=1 READY=1 RELOADING=1 READY=1 RELOADING=1 READY=1 STOPPING=1
finish
