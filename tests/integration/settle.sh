#!/bin/bash
# A service that ends just after its start was never ready: start and restart report this, and with
# settle-time it is a failed start for the tree, too.
# settle-time the tree knows it, too.
. "${0%/*}/lib.sh"

{
	printf '[dies]\ncommand = sh -c '\''sleep 0.01; exit 3'\''\nautostart = no\nrestart-delay = 10s\n'
	printf '[away]\ncommand = true\nautostart = no\n'
	printf '[later]\ncommand = sh -c '\''test -e %s/good && exec %s/idle; exit 4'\''\n' "$dir" "$helpers"
	printf 'autostart = no\nrestart = never\n'
	service good 'autostart = no'
	printf '[job]\ncommand = true\ntype = oneshot\nautostart = no\n'
	printf '[slow]\ncommand = sh -c '\''exit 5'\''\nsettle-time = 2s\nautostart = no\nrestart = never\n'
	service first 'settle-time = 300ms' 'autostart = no'
	service second 'requires = first' 'autostart = no'
} | config
start_daemon
real() { "$swansongctl" "$@" >"$dir/out" 2>&1; }

real start dies
is "a service that dies at once is not ready" "$?" 1
like "its exit status is reported" "$(cat "$dir/out")" 'dies: exited with status 3 [0-9.]+[mu]?s after its start'
real start away
is "nor is a service that ends well" "$?" 1
like "its exit status is reported, too" "$(cat "$dir/out")" 'away: exited with status 0 [0-9.]+[mu]?s after its start'
real start job
is "but a oneshot is" "$?" 0
ok "the watch can be turned off" "$swansongctl" start dies --settle 0

start=$(now)
ok "a service that stays up is ready" real start good
within "after a second" $(($(now) - start)) 900 20000
ok "which is over once" wait_for 10 real start good --timeout 500ms
touch "$dir/good"
ok "a restart watches" real restart later
rm "$dir/good"
real restart later good
is "also several nodes" "$?" 1
like "the service that ended is named" "$(cat "$dir/out")" 'later: exited with status 4'

real start slow --settle 0
is "with settle-time it has never been ready" "$?" 1
is "so it has failed" "$(state slow)" failed
begun=$(now)
ok "its dependent starts, too" ctl start second --timeout 60s
within "after the settle-time" $(($(now) - begun)) 300 20000
ok "and not before that is over" in_order 'first: started' 'first: starting -> up' 'second: down -> starting'
stop_daemon
finish
