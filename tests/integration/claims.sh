#!/bin/bash
# Without control groups, processes whose environment claims a service cannot keep it from ending: those of another
# user do not count, and those of its own user do so for a limited time.
. "${0%/*}/lib.sh"
requires_root
requires_package setpriv util-linux
hide_cgroups

# A chain of processes, each in a session of its own, that ignore SIGTERM: the next one appears when one is killed.
cat >"$dir/chain" <<'END_OF_CHAIN'
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    parent_ends, lives = os.pipe()
    if os.fork() > 0:
        os.close(parent_ends)
        while True:
            signal.pause()
    os.setsid()
    os.close(lives)
    os.read(parent_ends, 1)
END_OF_CHAIN
cp "$helpers/idle" "$dir" # for any user
python=$(PATH=/usr/bin:/bin command -v python3) || skip_all "package python3"
chain="(SWANSONG_NODE=victim setsid $python -S $dir/chain &); exec $dir/idle"
as_daemon='setpriv --reuid=1 --regid=1 --clear-groups'
mkdir "$dir/mounts" "$dir/mounts/other"
chmod 755 "$dir/mounts"
unreadable="$python -S $top_srcdir/tests/helpers/unreadable.py"
config <<END
[victim]
command = $dir/idle
user = nobody
stop-timeout = 1s
restart-delay = 10ms
restart-limit = none
[other]
command = sh -c '$chain'
user = daemon
autostart = no
[equal]
command = sh -c '$chain'
user = nobody
autostart = no
[locks]
command = $unreadable $dir/mounts 65534 $dir/idle
autostart = no
[drops]
command = $as_daemon sh -c 'setsid sleep 4321 & exec $dir/idle'
END
$unreadable "$dir/mounts/other" 4321 sleep 4321 &
other=$!
locks() { [ "$(cat "/proc/$1/comm")" = "$2" ]; } # PID COMMAND
wait_for 20 locks "$other" sleep || die "a process of a user of no service keeps its environment from being read"
SWANSONG_NODE=victim~7 setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/idle" &
stranger=$!
start_daemon
is_chained() { [ "$(pgrep -cu "$1" -f "^$python -S $dir/chain")" -ge 2 ]; } # USER
is_unchained() { ! pkill -KILL -f "^$python -S $dir/chain"; }
uids() { # NODE KIND
	ctl guards "$1" --json |
		jq -r --arg kind "$2" '[.guards[] | select(.kind == $kind) | .uid] | unique | join(" ")'
}

ok "all is up" ctl wait --for ready --timeout 60s
end_process "$other"
end_process "$stranger"
ok "a process that no daemon has made makes no run of a service" not says "$log" 'victim~7'
is "a guard has the user of its process, not that of the key" "$(uids drops process)" 1

# --- Another user --------------------------------------------------------------------------------

ctl start other
wait_for 20 is_chained daemon || die "another user starts processes with the variable of the service"
is "none of them counts for it" "$(uids victim leftover)" ""
crashes() { # SECONDS: the victim is up again in this time
	local before
	before=$(pid_of victim)
	kill -KILL "$before"
	wait_for "$1" is_up_anew victim "$before"
}
ok "after a crash it is up again beside them" crashes 10
ok "its stop needs no kill" ctl stop victim --timeout 60s
ok "none of them is ended" not says "$log" 'victim: (found|killing)'
ctl start victim
ctl stop other
wait_for 10 is_unchained

# --- The user of the service ---------------------------------------------------------------------

ctl start equal
wait_for 20 is_chained nobody || die "another service of its user does"
is "processes of its own user count for it, and have that user" "$(uids victim leftover)" "$(id -u nobody)"
began=$(now)
ok "after a crash it is up again while more come" crashes 40
within "in the times of a stop and of survivors of a kill" $(($(now) - began)) 5900 20000
is "which is logged once" "$(grep -c 'victim: killing new processes with its SWANSONG_NODE' "$log")" 1
ctl stop victim --timeout 20s >/dev/null 2>&1
ok "its stop ends, too, maybe by force" [ $? -le 1 ]
ctl stop equal
wait_for 10 is_unchained

# --- A process that keeps its environment from being read ---------------------------------------------

ctl start locks
ok "a service has such a process" wait_for 20 locks "$(pid_of locks)" idle
began=$(now)
ok "the daemon answers" timeout 20 "$swansongctl" status victim
within "soon" $(($(now) - began)) 0 5000
ctl start victim
ok "a service of the same user is restarted" crashes 10
ctl stop victim
ok "the service itself can be stopped" ctl stop locks --timeout 60s
umount "$dir/mounts" && umount "$dir/mounts/other"

# --- A main process that has changed its user ----------------------------------------------------

ok "a process of it is there" wait_for 10 pgrep -fx 'sleep 4321'
ok "the service is stopped" ctl stop drops --timeout 60s
ok "with that, which has its user" not pgrep -fx 'sleep 4321'
stop_daemon 20
is "the end is graceful" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
finish
