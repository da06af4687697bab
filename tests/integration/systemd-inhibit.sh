#!/bin/bash
# inhibit and on-sleep: swansong-inhibit holds locks of the real systemd-logind; services are stopped before a sleep and
# start again after it; the shutdown of the machine waits for a guard, and for the tree.  The machine has no
# /sys/power, so logind gets one of its own, and the sleep is a command that waits for a line.
# shellcheck disable=SC2034  # for what is sourced
world=systemd
. "${0%/*}/lib.sh"
[ -e /usr/share/dbus-1/system.conf ] || skip_all "package dbus"

# All of this is inside an overlay of / that will be thrown away.
unit=$top_builddir/contrib/systemd/swansong-inhibit.service
install -D "$(program swansongctl)" "$(sed -n 's/^ExecReload=\([^ ]*\).*/\1/p' "${unit/-inhibit/d}")"
install -D "$(program swansongd)" "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "${unit/-inhibit/d}")"
install -D "$(program swansong-logger)" "$pkglibexecdir/swansong-logger"
install -D "$(program swansong-inhibit)" "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")"
install -m 644 "$unit" "${unit/-inhibit/d}" /etc/systemd/system/
conf=$sysconfdir/swansong/swansong.ini
mkdir -p "$sysconfdir/swansong" /run/systemd/logind.conf.d
printf '[Login]\nInhibitDelayMaxSec=120\n' >/run/systemd/logind.conf.d/test.conf
cat >/run/logind <<'END'
#!/bin/sh
mkdir -p /run/sys && mount --rbind /sys /run/sys && mount -t tmpfs tmpfs /sys || exit
for folder in /run/sys/*; do
	mkdir "/sys/${folder##*/}" && mount --rbind "$folder" "/sys/${folder##*/}" || exit
done
mkdir /sys/power && echo 'freeze mem' >/sys/power/state
exec /lib/systemd/systemd-logind
END
chmod +x /run/logind
mkfifo /run/wake /run/end
exec 7<>/run/wake 8<>/run/end
drop_in() { # UNIT LINE...
	mkdir -p "/etc/systemd/system/$1.d"
	printf '[Service]\n' >"/etc/systemd/system/$1.d/test.conf"
	printf '%s\n' "${@:2}" >>"/etc/systemd/system/$1.d/test.conf"
}
drop_in systemd-logind.service ExecStart= ExecStart=/run/logind SystemCallFilter= RestrictNamespaces=no \
	ProtectControlGroups=no PrivateMounts=yes MountFlags=private
drop_in systemd-suspend.service ExecStart= 'ExecStart=/bin/sh -c "read line </run/wake"'
# The machine stays, stopping, until this story has looked at it.
printf '[Service]\nExecStart=/bin/sleep infinity\nExecStop=/bin/sh -c "read line </run/end"\nTimeoutStopSec=120\n' \
	>/etc/systemd/system/holder.service

mkfifo "$dir/fifo"
exec 5<>"$dir/fifo"
configure() { # MODE, of the lock of the job
	cat >"$conf" <<-END
		[swansong]
		history = $dir/history
		[work]
		inhibit = shutdown:sleep
		[job]
		command = sh -c 'read line <$dir/fifo'
		type = oneshot
		autostart = no
		inhibit = sleep$1
		[store]
		command = sh -c 'trap "sleep 0.2; exit" TERM; while :; do sleep 1000 & wait; done'
		on-sleep = stop
		[web]
		command = $helpers/idle
		requires = store
		[other]
		command = $helpers/idle
	END
}
configure ''
systemctl daemon-reload
unset SWANSONG_SOCKET

locks() { # KIND MODE: the names that it shows
	busctl call --json=short org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager \
		ListInhibitors | jq -r --arg what "$1" --arg mode "$2" \
		'[.data[0][] | select(.[0] == $what and .[1] == "Swansong" and .[3] == $mode)[2]] | join("; ")'
}
has_locks() { [ "$(locks "$1" "$2")" = "$3" ]; } # KIND MODE NAMES
is_preparing() { # Sleep|Shutdown true|false
	[ "$(busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager \
		"PreparingFor$1")" = "b $2" ]
}
is_suspended() { [ "$(systemctl show systemd-suspend -p ActiveState --value)" = activating ]; }
has_ended() { [ "$(systemctl show "$1" -p ActiveState --value)" = inactive ]; } # UNIT
journal() { journalctl -u swansongd -u swansong-inhibit -o cat --no-pager >"$log" && says "$log" "$1"; } # REGEX
cleanup_fn journal .
has_states() { [ "$(state store) $(state web) $(state other)" = "$1" ]; }
hold() { # a guard on work, until a line comes
	ctl guard work --why "the night's import" -- sh -c 'read line <'"$dir/fifo" &
	guard=$!
}

ok "the unit has no mistakes" systemd-analyze verify --man=no "/etc/systemd/system/${unit##*/}"
ok "logind can suspend" systemctl start systemd-logind holder
ok "the helper starts before the daemon" systemctl start swansong-inhibit
ok "then the daemon" systemctl start swansongd
ok "a service that stops for a sleep delays it" wait_for 20 has_locks sleep delay store
is "nothing else has a lock" "$(locks sleep block)$(locks shutdown delay)$(locks shutdown block)" ""
like "systemd-inhibit shows it" "$(systemd-inhibit --list --no-pager)" 'Swansong.*swansong-inhibi.*store'
hold
ok "while a guard is held, its node is named" wait_for 20 has_locks shutdown delay work
ok "for both" wait_for 20 has_locks sleep delay 'work, store'
ctl start --no-wait job >/dev/null
ok "a job that runs is named" wait_for 20 has_locks sleep delay 'work, job, store'

# --- A sleep ---------------------------------------------------------------------------------------

other=$(pid_of other)
systemctl suspend --no-block
ok "the machine prepares to sleep" wait_for 20 is_preparing Sleep true
ok "the service is stopped, with its dependent" wait_for 20 has_states "down down up"
ok "the lock is held while the job runs" has_locks sleep delay 'work, job, store'
ok "the machine is awake" not is_suspended
echo >&5
echo >&5
wait "$guard"
ok "without a guard and a job it sleeps" wait_for 20 is_suspended
is "another service goes on" "$(pid_of other)" "$other"
ctl stop web >/dev/null
pkill -SEGV -x -P "$(systemctl show swansongd -p MainPID --value)" swansongd
ok "a fault of the daemon in between" wait_for 20 journal 'fault: SIGSEGV'
ok "leaves the service stopped" wait_for 20 has_states "down down up"
echo >&7
ok "when the machine is awake" wait_for 20 is_preparing Sleep false
ok "the service is started again, but none that was stopped by hand" wait_for 20 has_states "up down up"
ok "and delays the next sleep" wait_for 20 has_locks sleep delay store
ok "the history has the cause" says "$dir/history" 'the host goes to sleep'
ctl start web >/dev/null
journal .
ok "in order" in_order 'web: shutting down: ' 'store: SIGTERM'

systemctl suspend --no-block
ok "the machine sleeps once more" wait_for 20 is_suspended
ctl start web >/dev/null
ok "a start by hand is followed" wait_for 20 has_states "up up up"
echo >&7
ok "awake" wait_for 20 has_locks sleep delay store
systemctl suspend --no-block
ok "asleep" wait_for 20 is_suspended
ok "the helper is killed" systemctl kill -s KILL swansong-inhibit
ok "then the services start again" wait_for 20 has_states "up up up"
echo >&7
ok "it comes back with its lock" wait_for 20 has_locks sleep delay store

# --- A lock that blocks ----------------------------------------------------------------------------

configure :block
ok "a reload changes the mode" systemctl reload swansongd
ctl restart --no-wait job >/dev/null
ok "it blocks" wait_for 20 has_locks sleep block job
ok "a suspend is refused" not systemctl --check-inhibitors=yes suspend
echo >&5
ok "when the job has ended, nothing blocks" wait_for 20 has_locks sleep block ''
systemctl stop swansongd
ok "without the daemon there is no lock" wait_for 20 has_locks sleep delay ''
systemctl start swansongd
ok "with it, there is again" wait_for 20 has_locks sleep delay store

# --- The shutdown of the machine -------------------------------------------------------------------

hold
ok "a guard is held" wait_for 20 has_locks shutdown delay work
systemctl poweroff --no-block
ok "the machine prepares to shut down" wait_for 20 is_preparing Shutdown true
ok "the tree shuts down at once" wait_for 20 has_state other down
is "while other units are active" "$(systemctl show holder -p ActiveState --value)" active
is "the lock is held for the guard" "$(locks shutdown delay)" work
echo >&5
wait "$guard"
ok "without it the tree ends" wait_for 20 has_ended swansongd
is_going_down() { [ "$(systemctl is-system-running)" = stopping ]; }
ok "and the machine goes down" wait_for 20 is_going_down
journal .
ok "the reason is in the log" says "$log" 'shutting down: .*the host shuts down'
is "the daemon had success" "$(systemctl show swansongd -p Result --value)" success
ok "the helper ends last" wait_for 20 has_ended swansong-inhibit
# The holder stays: the machine would end this story, and stop nsenter with it.
finish
