#!/bin/bash
# Health checks of a service that is up, and the effects when it is not healthy any more.
. "${0%/*}/lib.sh"
requires_package python3 python3

server="/usr/bin/env python3 $top_srcdir/tests/helpers/http-server.py"
check="sh -c 'echo \$\$ >>$dir/%n.looks; cat $dir/%n; exit \$(cat $dir/%n)'"
config <<END
[web]
[web/http]
command = $server 127.0.0.1 8001 $dir/http
ready = tcp:127.0.0.1:8001
health = http://127.0.0.1:8001/health
health-interval = 20ms
health-timeout = 10s
health-retries = 3
restart-limit = none
post-stop = sh -c 'echo "SERVICE_RESULT is \$SERVICE_RESULT"'
[web/plain]
command = $helpers/idle
[logged]
command = $helpers/idle
health = exec:$check
health-interval = 20ms
health-retries = 2
on-unhealthy = log
stop-timeout = 60s
[talks]
autostart = no
command = sh -c 'echo first; exec $helpers/idle'
log = file:$dir/talks.log
health = exec:sh -c 'printf "loud\n%%05000d\n\nno such table\n\n"; printf "part" >&2; exit 3'
health-interval = 20ms
health-retries = 1
on-unhealthy = log
[mute]
autostart = no
command = $helpers/idle
ready = exec:sh -c 'printf "%%0900000d\n" 1; echo "still loading" >&2; exit 1'
start-timeout = 2s
restart = never
[hung]
command = $helpers/idle
health = exec:sh -c 'echo \$\$ >>$dir/hung; sleep 1000 & echo \$! >>$dir/hung; wait'
health-interval = 50ms
health-timeout = 100ms
restart = never
[other]
command = $helpers/idle
health = exec:sh -c 'echo >>$dir/other.looks; test -e $dir/other.well'
health-interval = 20ms
health-retries = 1
on-unhealthy = log
[watched]
autostart = no
command = $helpers/idle
health = exec:$helpers/idle
health-interval = 10ms
health-timeout = 10min
[over]
autostart = no
command = true
restart = never
[again]
autostart = no
command = false
restart = always
restart-delay = 1h
restart-delay-max = 1h
restart-limit = none
[group/slow]
autostart = no
command = sh -c 'trap "read -r _ <$dir/wait; exit 0" TERM; echo set; sleep 1000 & wait'
ready = log:set
[late]
autostart = no
command = $helpers/idle
health = unix:$dir/nowhere
health-retries = 1
on-unhealthy = shutdown
restart = always
END
mkfifo "$dir/wait"
echo 200 >"$dir/http"
echo 0 >"$dir/logged"
touch "$dir/other.well"
start_daemon
has_health() { [ "$(field "$1" .service.health)" = "$2" ]; } # NODE HEALTH
logged() { grep -Ec -- "$1" "$log"; } # REGEX: how often
more_lines() { [ "$(wc -l <"$2")" -gt "$1" ]; } # NUMBER FILE

# --- The output of a check -------------------------------------------------------------------------

ctl start talks >/dev/null
ok "a check that fails" wait_for 10 has_health talks unhealthy
is "is shown with the last line of its output" "$(field talks .service.health_result)" \
	"exit status 3: part"
ok "and in the log" says "$log" 'talks: unhealthy, 1 times in a row: exit status 3: part'
is "which is not in that of the service" "$(cat "$dir/talks.log")" first
ctl stop talks >/dev/null
ctl start mute >/dev/null 2>&1
is "a service that did not become ready has failed" "$(state mute)" failed
ctl stop mute >/dev/null
ok "and the log has the last line of the check" \
	says "$log" 'mute: was not ready, by the last check: exit status 1: still loading'

# --- Processes that check ----------------------------------------------------------------------------

is_looked_at() { ctl guards watched --json | jq -e '.guards[] | select(.kind == "action" and .why == "health")'; }
ok "a service with a slow probe is started" ctl start watched
ok "a command that looks is among the guards" wait_for 10 is_looked_at
is "as it is counted" "$(ctl guards watched --json | jq '.guards | length')" "$(field watched .guards)"
ok "it does not hold up a stop" ctl stop watched --timeout 60s

# --- It is well, and is not, and is again --------------------------------------------------------

ok "a service that replies is healthy" wait_for 10 has_health web/http healthy
is "a service without a probe has no health" "$(field web/plain .service.health)" null
ok "for others that is an exit status" ctl health web
is "and a word" "$(ctl health web)" healthy
is "or a document" "$(ctl --json health web | jq -c .)" '{"healthy":true}'
ctl -q health nothing 2>/dev/null
is "the health of a missing node has an exit status of its own" $? 4

ok "a command that ends with 0 is well" wait_for 10 has_health logged healthy
echo 1 >"$dir/logged"
ok "and with 1 is not, so often" wait_for 10 has_health logged unhealthy
is "why is shown" "$(field logged .service.health_result)" "exit status 1: 1"
like "also to people" "$(ctl status logged)" 'health: *unhealthy since .*last: exit status 1'
like "and in the list" "$(ctl status)" 'logged .*, unhealthy'
ctl health >"$dir/out"
is "the exit status is 1" $? 1
like "with the reason" "$(cat "$dir/out")" 'logged +unhealthy: exit status 1'
n=$(wc -l <"$dir/logged.looks")
ok "it is looked at as before" wait_for 10 more_lines $((n + 5)) "$dir/logged.looks"
is "the failure is logged once" "$(logged 'logged: unhealthy, 2 times in a row: exit status 1')" 1
is "and nothing is done" "$(state logged)" up
echo 0 >"$dir/logged"
ok "a single success makes it healthy" wait_for 10 has_health logged healthy
is "and is logged" "$(logged 'logged: healthy again')" 1

# --- Restart -------------------------------------------------------------------------------------

pid=$(pid_of web/http)
echo 503 >"$dir/http"
ok "an unhealthy service is ended by its stop-signal" wait_for 10 says "$log" "web/http: SIGTERM to pid $pid"
echo 200 >"$dir/http"
is_new() { [ "$(pid_of web/http)" != "$pid" ] && has_health web/http healthy; }
ok "and started again" wait_for 20 is_new
ok "for the reason" says "$log" 'web/http: unhealthy, 3 times in a row: HTTP status 503'
ok "its run has failed" says "$log" 'web/http: unhealthy; again in'
ok "which its post-stop sees" says "$log" '^web/http +\| SERVICE_RESULT is watchdog'
ok "a restart is counted" test "$(field web/http .service.restarts)" -ge 1

# --- A probe that hangs --------------------------------------------------------------------------

ok "a probe that hangs has failed" wait_for 20 has_state hung failed
is "so was the service" "$(field hung .service.result)" unhealthy
# A processor that is busy may not have ended the one before.
ok "why is in the log" says "$log" \
	'hung: unhealthy, 3 times in a row: (no answer in time|pid [0-9]+ of the one before has not ended yet)'
all_gone() { local pid; while read -r pid; do is_zombie_or_gone "$pid" || return 1; done <"$1"; }
ok "nothing of the probes is left" wait_for 10 all_gone "$dir/hung"
ok "there were no more than it takes" test "$(wc -l <"$dir/hung")" -le 6

# --- It has ended by itself ----------------------------------------------------------------------

ctl start over >/dev/null
ok "a service that runs no more has ended" wait_for 10 has_state over 'done'
is "and its status shows it" "$(field over .service.ended)" true
is "and of no other" "$(field logged .service.ended)" null
is "it is not well" "$(ctl health over)" "over  ended"

# --- Its next start, and none ---

ctl start again --no-wait
wait_for 10 has_state again backoff || die "it waits for its next start"
ctl health again >"$dir/out"
is "a service that is started again has a status of its own" "$? $(cat "$dir/out")" "75 again  backoff"
ctl -q health hung
is "a service that is given up has that of a failure" $? 1
ctl -q health again hung
is "the failure counts among several" $? 1
ctl start slow >/dev/null
ctl restart slow --no-wait
wait_for 10 has_state group/slow stopping || die "it is stopped"
ctl health slow >"$dir/out"
is "a service that an operator restarts has that of a service that is started again" \
	"$? $(cat "$dir/out")" "75 group/slow  stopping"
ctl -q health group
is "a group that has such a service too" $? 75
echo >"$dir/wait"
ok "the service is up again" wait_for 10 ctl health -q slow
ctl stop again
ctl -q health again
is "so does a service that was stopped" $? 1

# --- Maintenance ---------------------------------------------------------------------------------

ctl stop over hung
ok "a service that was stopped by hand does not make the check fail" wait_for 20 ctl health -q
ctl stop web
ok "nor is a group" wait_for 10 ctl health -q
is "and its status shows it" "$(field web/http .service.stopped)" true
ok "unless it is named" not ctl health -q web
is "and a service likewise" "$(ctl health web/plain)" "web/plain  down"

# --- It stops ------------------------------------------------------------------------------------

ctl stop logged
n=$(wc -l <"$dir/logged.looks")
is "a stopped service has no health" "$(field logged .service.health)" null
m=$(wc -l <"$dir/other.looks")
ok "while others are looked at" wait_for 10 more_lines $((m + 5)) "$dir/other.looks"
is "it is not" "$(wc -l <"$dir/logged.looks")" "$n"
rm "$dir/other.well"
ok "a retry may be one" wait_for 10 has_health other unhealthy

ctl start late >/dev/null
await_daemon 20
is "an unhealthy service may be the end of all" "$status" 124
ok "and the reason is logged" says "$log" 'root: shutting down: late is unhealthy'
ok "and it ends in order" says "$log" 'root: complete in'
finish
