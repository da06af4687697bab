#!/bin/bash
# Services inherit nothing of the daemon's own, their inheritance can be limited further, and no other user
# decides which programs run.
. "${0%/*}/lib.sh"
requires_root
requires_package setpriv util-linux

variables() { tr '\0' '\n' <"/proc/$(pid_of "$1")/environ" | sort; } # NODE
value() { variables "$1" | sed -n "s/^$2=//p"; }                    # NODE VARIABLE
inheritable() { sed -n 's/^CapInh:\t//p' "/proc/$1/status"; }        # PID

{
	service free
	service lesser 'user = nobody'
	printf '%s\n' '[kept]' 'environment-clear = yes' 'environment-pass = PATH LANGUAGE'
	service kept/plain 'environment = OWN=1'
	service kept/secret 'environment-pass = PASSWORD'
	service kept/open 'environment-clear = no'
} | config
launch env PASSWORD=word LANGUAGE=C LISTEN_FDS=1 LISTEN_PID=1 LISTEN_FDNAMES=x FDSTORE=9 \
	CREDENTIALS_DIRECTORY=/run/credentials WATCHDOG_USEC=9000000 WATCHDOG_PID=1 \
	MEMORY_PRESSURE_WATCH=/dev/null SWANSONG_GRACE=20s SWANSONG_CONTROL=3 SWANSONG_NODE=other \
	SWANSONG_ATTACH=3 NOTIFY_SOCKET="$dir/nobody" \
	setpriv --inh-caps +chown,+net_raw "$swansongd" -c "$ini" --socket "$socket"
ctl wait --for ready --timeout 60s >/dev/null || die "swansongd answers"

own='^(LISTEN_|CREDENTIALS|FDSTORE|WATCHDOG_|MEMORY_PRESSURE|NOTIFY_|SWANSONG_(GRACE|CONTROL|ATTACH|NODE=other))'
is "no variable of the daemon's own reaches a service" "$(variables free | grep -E "$own")" ""
is "the others do" "$(value free PASSWORD)" word
is "and where clients find the daemon" "$(value free SWANSONG_SOCKET)" "$socket"
none=0000000000000000
for node in free lesser; do
	is "no inheritable capability reaches $node" "$(inheritable "$(pid_of $node)")" $none
done

is "a group that clears the environment passes some variables on" "$(value kept/plain LANGUAGE)" C
is "and no other" "$(variables kept/plain | grep -Ev '^(OWN|PATH|LANGUAGE|SWANSONG_(NODE|DAEMON))=')" ""
is "its own are there" "$(value kept/plain OWN)" 1
is "a service names the one that it needs" "$(value kept/secret PASSWORD)" word
is "instead of the values above" "$(value kept/secret LANGUAGE)" ""
is "or takes them all" "$(value kept/open PASSWORD)" word

# --- Files of other users ------------------------------------------------------------------------

before=$(pid_of free)
chown nobody "$ini"
service another >>"$ini"
ctl reload >"$dir/said" 2>&1
is "a reload refuses a file that belongs to another user" "$?" 1
ok "with the reason" says "$dir/said" 'swansong.ini: owned by user [0-9]+: expected root or the user'
is "and changes nothing" "$(pid_of free) $(ctl list | grep -c another)" "$before 0"
stop_daemon
is "the daemon ends" "$status" 0

"$swansongd" -c "$ini" --socket "$socket" >"$dir/said" 2>&1
is "so does a start" "$?" 78
ctl check "$ini" >"$dir/said" 2>&1
is "and a check" "$?" 78
ok "unless that is wanted" ctl check --trust-config "$ini"
start_daemon --trust-config
ok "which a start warns of" says "$log" 'swansong.ini: owned by user [0-9]+: this user can change the configuration'
ok "and a reload allows, too" ctl reload
stop_daemon
launch unshare --pid --fork --kill-child --mount-proc "$swansongd" -c "$ini" --socket "$socket"
ok "the init of a container takes the files of its image" wait_for 10 ctl_answers
ctl shutdown --timeout 10s >/dev/null
await_daemon 10
is "it ends" "$status" 0
finish
