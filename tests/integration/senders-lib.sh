# shellcheck shell=bash
# The service that a message counts for, with and without control groups.  After lib.sh.  $own is "heard" if
# the message of an orphan in a session of its own still counts when the orphan is dead.
requires_package python3 python3

talker="/usr/bin/env python3 $top_srcdir/tests/helpers/talker.py"
config <<END
[swansong]
log = inherit
[talk]
command = $talker $dir/talk
notify = yes
[hooked]
command = $talker $dir/hooked
notify = yes
post-start = $talker $dir/hook
start-timeout = 60s
[busy]
command = sh -c 'unset SWANSONG_NODE; exec $helpers/reexec \$PPID 200'
fd-store-max = 250
END
for fifo in talk hooked hook; do
	mkfifo "$dir/$fifo"
done

begun() { [ "$(grep -c '^talker: begins' "$log")" -ge 3 ]; }
has_status() { [ "$(field "$1" .service.status)" = "$2" ]; } # NODE TEXT
orphan() { sed -n 's/^talker: orphan //p' "$log" | tail -n 1; }
is_another() { [ -n "$(orphan)" ] && [ "$(orphan)" != "$1" ]; } # PID
# A process that has stopped itself sends a message and dies while the daemon stands still: SIGCONT continues
# it, and is pending before the message.
die_unseen() { # PID
	kill -STOP "$daemon"
	kill -CONT "$1"
	wait_for 20 is_zombie_or_gone "$1"
	kill -CONT "$daemon"
}
orphan_dies() { # SESSION TEXT
	local before
	before=$(orphan)
	echo "orphan $1 STATUS=$2" >"$dir/talk"
	wait_for 20 is_another "$before" && wait_for 20 is_stopped "$(orphan)"
	die_unseen "$(orphan)"
}

start_daemon
wait_for 20 begun || die "all have begun"

# --- The dead ------------------------------------------------------------------------------------

hook=$(ctl guards --json hooked | jq -r ".guards[] | select(.pid != $(pid_of hooked)) | .pid")
printf 'stop\nsay STATUS=by hook\nexit 0\n' >"$dir/hook"
wait_for 20 is_stopped "$hook"
die_unseen "$hook"
ok "a hook has done its work" wait_for 10 has_state hooked up
is "and its last message counts" "$(field hooked .service.status)" 'by hook'

orphan_dies same 'by orphan'
ok "so does the message of a dead orphan" wait_for 10 has_status talk 'by orphan'
orphan_dies own 'by own'
if [ "$own" = heard ]; then
	ok "also in a session of its own" wait_for 10 has_status talk 'by own'
fi

# --- Processes that call execve(2) ---------------------------------------------------------------

ok "a process that calls execve(2) all the time goes on to its end" wait_for 60 says "$log" '^reexec: done'
# On a busy machine the process may get no processor for longer than the daemon waits.
has_stored() { [ "$(field busy .service.stored)" -ge "$1" ]; } # NUMBER
if [ "$own" = heard ]; then
	ok "and is heard in between" has_stored 160
else
	is "but not as an orphan in a session of its own" "$(field busy '.service.stored // 0')" 0
fi
comment <<<"of 200 times $(field busy .service.stored)"

stop_daemon
is "the daemon ends" "$status" 0
