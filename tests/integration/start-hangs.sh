#!/bin/bash
# A start that a file system, or another process, keeps from running its program: the daemon goes on
# with everything else, start-timeout and a stop end the process, and status names the step.
. "${0%/*}/lib.sh"
requires_root
requires_package python3 python3

mount_hanging "$dir/hung"

# The time of an answer, while whatever hangs, and that of a client without a question: on a busy machine, or with
# a sanitizer, that is most of it.  A daemon that waits for a file system never answers.
took() { # COMMAND...: in microseconds
	local since=${EPOCHREALTIME/[.,]/}
	timeout 60 "$@" >"$dir/answer" 2>&1
	echo $((${EPOCHREALTIME/[.,]/} - since))
}
answers() { # NAME
	local usual
	usual=$(took "$swansongctl" --version)
	within "$1" $(($(took "$swansongctl" status quick) / 1000)) 0 $((1000 + usual / 100))
}

# More than may be pending before others wait for room.
hundred() {
	local i
	for ((i = 1; i <= 100; i++)); do
		printf '[hung/%03d]\ncommand = %s\ndirectory = %s\nautostart = no\n' \
			"$i" "$helpers/idle" "$dir/hung/$i"
	done
}

config <<END
[quick]
command = $helpers/idle
[directory]
command = $helpers/idle
directory = $dir/hung/there
autostart = no
start-timeout = 1s
restart = never
[apart]
command = $helpers/idle
directory = $dir/hung/there
oom-score-adjust = 100
autostart = no
[program]
command = $dir/hung/program
autostart = no
[input]
command = $helpers/idle
stdin = file:$dir/hung/input
autostart = no
[hook]
command = $helpers/idle
start-command = $dir/hung/hook
autostart = no
start-timeout = 1s
restart = never
[probe]
command = $helpers/idle
ready = exec:$dir/hung/probe
autostart = no
start-timeout = 1s
restart = never
[pid]
command = sh -c 'sleep 50 & exit 0'
type = forking
pid-file = $dir/hung/pid
autostart = no
restart = never
start-timeout = 1s
[hung]
$(hundred)
END
start_daemon
ok "the tree starts" wait_for 10 has_state quick up

# In turn: a second look-up on such a mount cannot even be killed.
hangs() { # NAME
	ctl start "$1" --no-wait >/dev/null
	answers "the daemon answers while the start of $1 hangs"
}
for name in directory hook probe; do
	hangs "$name"
	ok "start-timeout ends it" wait_for 10 has_state "$name" failed
done
like "the reason names the step" "$(ctl status directory)" \
	"was not ready within its start-timeout: its program did not run: waited to enter the directory $dir/hung/there"
hangs apart
names_step() { ctl status "$1" | grep -q "its program does not run yet: waits to $2"; } # SERVICE STEP
ok "also where its memory is its own" wait_for 10 names_step apart "enter the directory $dir/hung/there"
ok "and a stop ends it" ctl stop apart
hangs program
ok "status names the program" wait_for 10 names_step program "execute $dir/hung/program"
began=$(now)
ok "a stop ends such a start" ctl stop program
within "at once, and not by a timeout" $(($(now) - began)) 0 9000
hangs input
ok "status names the file of standard input" wait_for 10 names_step input "open $dir/hung/input"
ok "a stop ends it as well" ctl stop input

hangs pid
ok "a pid file there is not waited for" wait_for 10 has_state pid failed
like "though its service has forked" "$(ctl status pid)" 'start-timeout'

for ((i = 1; i <= 100; i++)); do
	ctl start "hung/$(printf '%03d' "$i")" --no-wait >/dev/null
done
for ((i = 0; i < 50; i++)); do
	took "$swansongctl" status quick >>"$dir/times"
	took "$swansongctl" --version >>"$dir/usual"
done
for times in "$dir/times" "$dir/usual"; do sort -n "$times" -o "$times"; done
usual=$(sed -n 45p "$dir/usual")
comment <<<"status beside a hundred starts that hang: median $(sed -n 25p "$dir/times") us, slowest $(tail -n 1 "$dir/times") us"
ok "a hundred starts that hang hold up nothing" [ "$(sed -n 45p "$dir/times")" -lt $((500000 + 10 * usual)) ]
are_starting() { [ "$(ctl status | grep -c '^hung/.* starting ')" = 100 ]; }
ok "all of them are starting" wait_for 60 are_starting
ok "the other service restarts meanwhile" ctl restart quick

# A reload that reads a file there, or has a path there that the daemon itself would open.
reload_hangs() { # WHAT
	"$swansongctl" reload >"$dir/refused" 2>&1 &
	reloading=$!
	answers "the daemon answers while it reads $1"
	ok "the reload fails" not wait "$reloading"
	ok "and gives the reason" says "$dir/refused" 'a file system does not answer'
}
# [pid] alone would have it fail.
kept=$(awk '/^\[/ { kept = $0 != "[pid]" } kept' "$ini")
for line in "environment-file = $dir/hung/environment" "listen = unix:$dir/hung/socket" \
	"type = forking"$'\n'"pid-file = $dir/hung/pid"; do
	config <<END
$kept
[late]
command = $helpers/idle
autostart = no
$line
END
	reload_hangs "${line%% *}"
done
config <<<"$kept"
for place in "$dir/swansong.d" "$dir/swansong.d/late.ini"; do
	rm -rf "$dir/swansong.d"
	[ "$place" = "$dir/swansong.d" ] || mkdir "$dir/swansong.d"
	ln -s "$dir/hung/${place##*/}" "$place"
	reload_hangs "a drop-in: ${place##*/}"
done
kill -HUP "$daemon"
ok "a reload by a signal as well" wait_for 10 says "$log" 'the configuration cannot be read: a file system does not answer'

began=$(now)
rm -r "$dir/swansong.d"
stop_daemon 20
is "the shutdown is graceful" "$status" 0
within "and waits for no start" $(($(now) - began)) 0 9000

config <<END
[listen]
command = $helpers/idle
listen = unix:$dir/hung/socket
END
like "a start of the daemon with a socket there is refused" "$(timeout 60 "$swansongd" -c "$ini" 2>&1)" \
	"cannot listen on unix:$dir/hung/socket: the file system does not answer"

# A process of the service's own user that sends SIGSTOP to all others.  A long PATH gives it time.
long=$(printf '/nowhere:%.0s' {1..3000})
config <<END
[attacked]
command = idle
environment = PATH=$long$(realpath "$helpers")
user = 65534
autostart = no
start-timeout = 2s
restart = never
[quick]
command = $helpers/idle
END
start_daemon
ok "the tree starts again" wait_for 10 has_state quick up
setpriv --reuid 65534 --regid 65534 --clear-groups sh -c '
	echo ready
	while :; do kill -STOP -1 2>/dev/null; done' >"$dir/attacker" &
attacker=$!
cleanup_fn end_process "$attacker"
ok "the attacker runs" wait_for 10 says "$dir/attacker" ready
stopped=0
for ((i = 0; i < 20; i++)); do
	timeout 60 "$swansongctl" start attacked --no-wait >/dev/null
	timeout 60 "$swansongctl" status quick >"$dir/answer" || break
	! grep -q '^State:.T' "/proc/$(pid_of attacked)/status" || stopped=$((stopped + 1))
	timeout 60 "$swansongctl" stop attacked >/dev/null
done
ok "SIGSTOP reaches a child before its program runs" [ "$stopped" -gt 0 ]
is "and does not stop the daemon" "$i" 20
end_process "$attacker"
stop_daemon 20
end_process "$mounting"
umount "$dir/hung"
finish
