#!/bin/bash
# A service forks without end: its user's limit bounds it, the daemon answers meanwhile, others live, and
# the stop ends it all.
. "${0%/*}/lib.sh"
requires_root

# Of a user of its own, and in a world that takes no more than its limit of pids anyway.
user=54322
cat >"$dir/bomb" <<-'END'
	#!/bin/bash
	# Each of them makes as many as it can, in and out of the session, and all ignore signals.
	trap '' TERM
	exec 2>/dev/null
	deadline=$((SECONDS + 60))
	echo >>"$1"
	while [ "$SECONDS" -lt "$deadline" ]; do
		bash "$0" "$1" &
		setsid bash "$0" "$1" &
		read -rt 0.1 <>"$2"
	done
END
touch "$dir/born"
chmod 666 "$dir/born"
config <<END
[bomb]
command = bash $dir/bomb $dir/born
user = $user
group = $user
limit-nproc = 60
stop-timeout = 1s
restart = never
[other]
command = $helpers/idle
restart-delay = 10ms
END
start_daemon
born() { [ "$(wc -l <"$dir/born")" -ge "$1" ]; }
there() { pgrep -c -u "$user"; }
many() { [ "$(there)" -ge 40 ]; }
ok "it makes as many as it may" wait_for 30 many
ok "and forks that end make room for more" wait_for 30 born 60
ok "but no more" test "$(there)" -le 60

longest=0
for ((i = 0; i < 20; i++)); do
	began=$(now)
	ctl status --timeout 60s >/dev/null || break
	took=$(($(now) - began))
	[ "$took" -le "$longest" ] || longest=$took
done
is "status is answered each time" "$i" 20
within "before long" "$longest" 0 5000
pid=$(pid_of other)
kill -KILL "$pid"
ok "another service is started again meanwhile" wait_for 10 is_up_anew other "$pid"

began=$(now)
ok "it can be stopped" by_force ctl stop bomb --timeout 60s
within "soon after its stop-timeout" $(($(now) - began)) 900 20000
is "by force" "$(field bomb .forced)" true
is "nothing of it is left" "$(there)" 0
is "the other is up" "$(state other)" up
ok "it can be started again" ctl start bomb --timeout 60s
ok "and makes as many again" wait_for 30 many
stop_daemon 60
is "an end of the daemon ends it, too" "$status" 124
ok "nothing is left" wait_for 10 nobody_else
finish
