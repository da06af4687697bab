#!/bin/bash
# start-parallel: the services of a group come up a few at a time, the others wait for their turn, and a shutdown
# in the middle waits for none of them.
. "${0%/*}/lib.sh"

{
	printf '[web]\nstart-parallel = 2\n'
	for i in 1 2 3 4 5; do
		printf '[web/s%s]\ncommand = %s/idle\nready = exec:test -e %s/ready.%s\nhealth-interval = 50ms\n' \
			"$i" "$helpers" "$dir" "$i"
	done
	service beside
} | config
start_daemon

coming_up() { # the services that come up, in a line
	ctl status --json | jq -r '[.nodes[] | select(.service.state == "starting") | .path] | join(" ")'
}
come_up() { [ "$(coming_up)" = "$1" ]; } # NAMES
is_ready() { [ "$(field "$1" .service.ready)" = true ]; } # NODE

ok "the first two come up" wait_for 10 come_up "web/s1 web/s2"
ok "a service outside of the group is up" wait_for 10 is_ready beside
is "the third one waits for no node" "$(field web/s3 '.service.waiting // "none"')" none
is "it waits for its turn" "$(field web/s3 .service.turn)" web
like "which status shows" "$(ctl status web/s3)" 'waits for: *its turn in web: start-parallel'
like "so does the list" "$(ctl status)" 'web/s3 .*waits for its turn in web'
touch "$dir/ready.2"
ok "the next one starts when one is ready" wait_for 10 come_up "web/s1 web/s3"
kill -KILL "$(pid_of web/s1)"
ok "a failure leaves its place to the next one" wait_for 10 come_up "web/s3 web/s4"
touch "$dir"/ready.{1,3,4,5}
ok "all are ready in the end" ctl wait --for ready --timeout 60s web

rm "$dir"/ready.*
ctl --no-wait restart web >/dev/null
ok "a restart of the group is paced, too" wait_for 10 come_up "web/s1 web/s2"
stop_daemon
is "a shutdown in the middle ends well" "$status" 0
is "it waits for no turn: two were started again" "$(grep -c 'web/s[1-5]: started, pid' "$log")" 8
finish
