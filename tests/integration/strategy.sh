#!/bin/bash
# The effects of the end of one service on others: the strategy of its group, and on-failed.
. "${0%/*}/lib.sh"

mkfifo "$dir/slow.go"
{
	printf '[both]\nstrategy = one-for-all\n'
	service both/quick 'restart-delay = 0'
	service both/third "final = touch $dir/third.final"
	service both/asleep 'autostart = no'
	printf '[both/slow]\ncommand = %s 0 %s\nstop-timeout = 60s\n' \
		"$helpers/signal-log $dir/slow" "$dir/slow.go"
	printf '[all]\nstrategy = one-for-all\n'
	service all/a 'requires = all/b'
	service all/b 'restart-delay = 300ms'
	service all/c
	service all/stopped
	printf '[rest]\nstrategy = rest-for-one\n'
	service rest/a
	service rest/b
	service rest/c/x
	printf '[one]\n'
	service one/a
	service one/b
	printf '[given]\n'
	service given/up 'restart-limit = 1/1h' 'on-failed = shutdown-parent' 'restart-delay = 0'
	service given/other
	service last 'restart = always' 'restart-limit = 1/1h' 'on-failed = shutdown' 'success-status = 3' 'restart-delay = 0'
} | config
start_daemon
ctl wait --for ready >/dev/null || die "all is ready"
ctl stop all/stopped >/dev/null

pids() { # NODE...
	local node
	for node; do
		pid_of "$node"
	done | paste -sd ' '
}
renewed() { # PID NODE: it is up, as another process
	[ "$(state "$2")" = up ] && [ "$(pid_of "$2")" != "$1" ]
}
waits_for_slow() { # NODE: it is down, for that one
	[[ $(ctl status "$1") =~ state:\ *down.*waits\ for:\ *both/slow ]]
}
crash() { kill -SEGV "$(pid_of "$1")"; } # NODE

a=$(pid_of all/a) b=$(pid_of all/b) c=$(pid_of all/c)
kept=$(pids rest/a rest/b rest/c/x one/a)
crash all/b
for pair in "$b all/b" "$a all/a" "$c all/c"; do
	# shellcheck disable=SC2086  # two words
	ok "one-for-all: ${pair#* } is another process" wait_for 10 renewed $pair
done
is "a stopped service stays stopped" "$(field all/stopped .state)" complete
is "other groups do not notice" "$(pids rest/a rest/b rest/c/x one/a)" "$kept"
ok "its dependent stopped first, gracefully" in_order "all/b: killed by SIGSEGV" \
	"all/a: SIGTERM to pid $a" "all/b: started, pid $(pid_of all/b)" \
	"all/a: started, pid $(pid_of all/a)"
is "a restart is counted where it was one" \
	"$(field all/b .service.restarts) $(field all/c .service.restarts)" "1 0"

a=$(pid_of rest/a) b=$(pid_of rest/b) c=$(pid_of rest/c/x)
crash rest/b
ok "rest-for-one: it is another process" wait_for 10 renewed "$b" rest/b
ok "and so is a service after it, in a group" wait_for 10 renewed "$c" rest/c/x
is "but not a service before it" "$(pid_of rest/a)" "$a"

quick=$(pid_of both/quick) third=$(pid_of both/third) slow=$(pid_of both/slow)
wait_for 10 says "$dir/slow" ready || die "the slow service is up"
crash both/quick
ok "the slow service gets its signal" wait_for 10 says "$dir/slow" TERM
wait_for 10 test -e "$dir/third.final" || die "the third one has ended"
ok "no service is started beside it" waits_for_slow both/quick
ok "nor one of those that have ended" waits_for_slow both/third
echo 1<>"$dir/slow.go"
for pair in "$quick both/quick" "$third both/third" "$slow both/slow"; do
	# shellcheck disable=SC2086  # two words
	ok "but when it is gone: ${pair#* } is another process" wait_for 10 renewed $pair
done
ok "all of them after all" in_order 'both/slow: stopping -> down' "both/quick: started, pid $(pid_of both/quick)"
ok "the third one, too" in_order 'both/slow: stopping -> down' "both/third: started, pid $(pid_of both/third)"
is "but no service that was not started before" "$(state both/asleep)" down
slow=$(pid_of both/slow)
is_ready() { [ "$(grep -c ready "$dir/slow")" = "$1" ]; } # TIMES
wait_for 10 is_ready 2 || die "the slow service is up again"
sed -i 's/^restart-delay = 0$/restart-delay = 1h/; s/^\[both\/quick\]/&\nrestart-delay-max = 1h/' "$ini"
ctl reload >/dev/null
crash both/quick
wait_for 10 says "$log" "both/slow: SIGTERM to pid $slow" || die "the slow one is asked again"
ok "a start by hand waits for neither them nor the delay" ctl --timeout 60s start both/quick
is "and the slow one is still stopping" "$(state both/slow)" stopping
echo 1<>"$dir/slow.go"
ok "the slow one starts when it has ended" wait_for 10 renewed "$slow" both/slow
wait_for 10 is_ready 3 || die "the slow service is up once more"
ctl stop --no-wait both >/dev/null
echo 1<>"$dir/slow.go"

a=$(pid_of one/a) b=$(pid_of one/b)
crash one/a
ok "one-for-one: it is another process" wait_for 10 renewed "$a" one/a
is "alone" "$(pid_of one/b)" "$b"

pid=$(pid_of given/up)
crash given/up
ok "a service that may be restarted once is" wait_for 10 renewed "$pid" given/up
crash given/up
ok "and then its group is shut down" ctl --timeout 60s wait --for complete given
is "with the services in it" "$(state given/other)" down
is "the service is shown as failed" "$(state given/up)" failed
ok "which is no maintenance" not ctl health -q
ctl stop given/up
is "until it is stopped by hand" "$(state given/up)" down
ok "and the reason is logged" says "$log" 'given: shutting down: a service of the group was given up'

pid=$(pid_of last)
crash last
ok "always comes back" wait_for 10 renewed "$pid" last
crash last
await_daemon 10
is "until it is given up, which ends the tree with its status" "$status" 139
ok "for this reason" says "$log" 'root: shutting down: last has failed'
ok "nothing is left" wait_for 10 nobody_else
finish
