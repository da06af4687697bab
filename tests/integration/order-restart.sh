#!/bin/bash
# The services that a restart starts again, and their order: services that were stopped before, services
# started by hand only, and dependents of a service that is being restarted.
. "${0%/*}/lib.sh"

config <<END
[web/a]
command = $helpers/idle
[web/b]
command = $helpers/idle
[web/asleep]
command = $helpers/idle
autostart = no
[web-user]
command = $helpers/idle
requires = web
autostart = no
[late]
command = $helpers/idle
requires = web
restart = never
[slow]
command = $helpers/idle
autostart = no
post-stop = sh -c 'test ! -e $dir/block || read -r _ <$dir/block'
[slow-user]
command = $helpers/idle
requires = slow
[db]
command = sh -c 'read -r _ <$dir/db.go; echo >&3; exec $helpers/idle'
ready = fd:3
restart-delay = 0
[db-user]
command = $helpers/idle
requires = db
restart-delay = 0
[lost]
command = $helpers/idle
restart = never
[lost-user]
command = $helpers/idle
requires = lost
restart-delay = 0
[lost-follower]
command = $helpers/idle
after = lost-user
autostart = no
[empty/asleep]
command = $helpers/idle
autostart = no
[empty-user]
command = $helpers/idle
requires = empty
autostart = no
[inner/asleep]
command = $helpers/idle
autostart = no
[inner/user]
command = $helpers/idle
requires = inner/asleep
[slow-follower]
command = $helpers/idle
after = slow
END
mkfifo "$dir/db.go"
start_daemon
echo >"$dir/db.go"
ok "all becomes ready" ctl wait --for ready --timeout 60s

# --- Stopped services ------------------------------------------------------------------------------

states() { # NODE...
	local node
	for node; do state "$node"; done | paste -sd ' '
}
ok "a member of a group is stopped" ctl stop web/a
ok "a restart of the group starts it as well" ctl restart web --timeout 60s
is "and nothing else that did not run" "$(states web/a web/b web/asleep web-user late)" "up up down down up"
ok "the whole group is stopped" ctl stop web
ok "a restart starts all of it" ctl restart web --timeout 60s
is "as a start does" "$(states web/a web/b web/asleep web-user)" "up up down down"
ok "a restart by name starts a service that is started by hand only" ctl restart web-user --timeout 60s
ok "then it runs" has_state web-user up
ok "and a restart of its requirement does, too" ctl restart web --timeout 60s
ok "when that is ready" wait_for 5 has_state web-user up

ok "a member is stopped again" ctl stop web/a
ok "a restart of a dependent of the group starts the member" ctl restart late --timeout 60s
is "then both are up" "$(states web/a late)" "up up"

ok "a group where nothing is started by itself is stopped" ctl stop empty
ok "a dependent of the empty group is started" ctl start empty-user --timeout 60s
is "with it" "$(field empty .state) $(state empty/asleep)" "running down"

ok "a group with a requirement between its members is stopped" ctl stop inner
ok "it is started" ctl start inner --timeout 60s
is "with a required member that is not started by itself" "$(states inner/asleep inner/user)" "up up"
ok "and in that order" in_order ' inner/asleep: started' ' inner/user: started'

ok "a service that is required by name is stopped with its dependents" ctl stop slow
ok "a restart of that" ctl restart slow-user --timeout 60s
is "starts both" "$(states slow slow-user)" "up up"

# --- Services that are being restarted -------------------------------------------------------------

mkfifo "$dir/block"
ctl restart slow --no-wait >"$dir/out"
ok "a service that is started by hand only is restarted" wait_for 5 has_state slow closing
ok "its dependent has ended meanwhile" wait_for 5 has_state slow-user down
ok "a service that is only after it is restarted, too" ctl restart slow-follower --no-wait
ok "and has ended" wait_for 5 has_state slow-follower down
lines=$(wc -l <"$log")
echo >"$dir/block"
rm "$dir/block"
ok "all come back" ctl wait --for ready slow slow-user slow-follower --timeout 60s
tail -n +$((lines + 1)) "$log" >"$dir/log.after"
is "in their order" "$(sed -nE "s/$said(slow.*): down -> starting\$/\1/p" "$dir/log.after" |
	head -n 1)" slow

# --- Services that end by themselves ---------------------------------------------------------------

user=$(pid_of db-user)
kill -KILL "$(pid_of db)"
ok "a required service has ended and starts again" wait_for 5 has_state db starting
is "they go on" "$(pid_of db-user)" "$user"
kill -KILL "$user"
ok "if they end, too, they wait for it" wait_for 5 has_state db-user backoff
is "and their status shows it" "$(field db-user .service.waiting[0])" db
is "without a time of the next try, which is over" "$(field db-user .service.next_usec)" null
ctl restart slow-follower --timeout 10s >"$dir/out"
is "until the requirement is ready" "$(state db-user)" backoff
echo >"$dir/db.go"
ok "until it is ready" wait_for 5 has_state db-user up
in_this_order() { # REGEX...: from the first one on, each is after the one before
	sed -n "/$1/,\$p" "$log" >"$dir/log.after"
	log=$dir/log.after in_order "$@"
}
ok "in that order" in_this_order 'db-user: up -> backoff' 'db: starting -> up' 'db-user: backoff -> starting'

kill -KILL "$(pid_of lost)"
ok "a required service has failed" wait_for 5 has_state lost failed
kill -KILL "$(pid_of lost-user)"
ok "its dependents stay in backoff" wait_for 5 has_state lost-user backoff
ok "a service that is only after them does not wait for it" ctl start lost-follower --timeout 60s
ok "the failed service is started by hand, with any result of before" ctl start lost --timeout 60s
ok "then they are as well" wait_for 5 has_state lost-user up

stop_daemon
is "the end is clean" "$status" 0
finish
