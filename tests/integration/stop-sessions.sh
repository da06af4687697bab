#!/bin/bash
# Sessions that kill-leftovers = no keeps: they hold up neither a restart, a reload nor a stop of the
# service.  The stop of the root asks them to end, and kills them at the stop-timeout.
. "${0%/*}/lib.sh"

# A service with a session of its own: PROGRAM, which is given a file.
session() { # NODE PROGRAM [LINE...]
	local node=$1 program=$2
	shift 2
	printf '[%s]\ncommand = bash -c '\''setsid %s/%s %s/%s & exec %s/idle'\''\n' \
		"$node" "$helpers" "$program" "$dir" "$node" "$helpers"
	printf '%s\n' 'kill-leftovers = no' "$@"
}
{
	session polite signal-log
	service needs 'requires = polite'
	session stubborn stubborn 'stop-timeout = 200ms' 'shutdown-timeout = 300ms'
	session gone signal-log
	# Its end is no stop: the only one is that of the root.
	printf '[ended]\ncommand = bash -c "setsid %s/stubborn %s/ended & :"\n' "$helpers" "$dir"
	printf '%s\n' 'kill-leftovers = no' 'restart = never' 'stop-timeout = 200ms'
} | config
start_daemon
for name in polite gone; do
	wait_for 10 says "$dir/$name" ready || die "the session of $name is there"
done
for name in stubborn ended; do
	wait_for 10 test -s "$dir/$name" || die "the session of $name is there"
done
polite=$(pgrep -f "signal-log $dir/polite")
gone=$(pgrep -f "signal-log $dir/gone")
stubborn=$(cat "$dir/stubborn")
ended=$(cat "$dir/ended")

before=$(pid_of polite)
ok "a restart does not wait for a session" ctl restart polite --timeout 60s
ok "the next run is there" is_up_anew polite "$before"
ok "and a dependent of the service runs" has_state needs up
ok "the session is there" kill -0 "$polite"
ok "and has not been asked to end" not says "$dir/polite" TERM

sed 's/^\[polite\]$/&\numask = 027/' "$ini" >"$dir/changed"
cp "$dir/changed" "$ini"
before=$(pid_of polite)
ok "a reload that restarts the service is taken" ctl reload
ok "and does not wait for a session" wait_for 10 is_up_anew polite "$before"

ok "a stop does not wait for a session" ctl stop stubborn --timeout 60s
is "the service is down" "$(state stubborn)" down
like "the session is listed" "$(ctl guards stubborn)" 'leftover .*stubborn'
is "and blocks nothing" "$(ctl guards stubborn --blocking --json | jq '.guards | length')" 0

sed '/^\[gone\]$/,$d' "$dir/changed" | config
ok "a removed section" ctl reload
ok "is stopped" wait_for 10 eval "! ctl status gone --json | jq -e '.nodes[0].service.pid' >/dev/null"
ok "and its session goes on" kill -0 "$gone"

kill -TERM "$daemon"
ok "the stop of the root asks a session to end" wait_for 10 says "$dir/polite" TERM
ok "also a session of a removed service" wait_for 10 says "$dir/gone" TERM
ok "it kills a stubborn one at the stop-timeout" wait_for 10 gone "$stubborn"
await_daemon 10
is "which is forced" "$status" 124
after='.[a-z]+., ([0-9]+ms|[0-9][.][0-9]s) after the stop'
like "and named, with the time since the stop of the root" "$(cat "$log")" \
	"stubborn: killing remaining pid $stubborn $after"
like "likewise a session of a service that was never stopped" "$(cat "$log")" \
	"ended: killing remaining pid $ended $after"
ok "no process is left" wait_for 10 nobody_else
finish
