#!/bin/bash
# Messages of services by the notify protocol are read, checked, bounded, and shown.
. "${0%/*}/lib.sh"
requires_package python3 python3

# How many messages may wait; the world has a number of its own.
qlen=/proc/sys/net/unix/max_dgram_qlen
{ echo 256 >$qlen; } 2>/dev/null
room=$(cat $qlen)
talker="/usr/bin/env python3 $top_srcdir/tests/helpers/talker.py"
config <<END
[swansong]
log = inherit
[talk]
command = $talker $dir/talk
ready = notify
start-timeout = 30s
[quick]
command = $talker $dir/quick
ready = notify
restart = never
[patient]
command = $talker $dir/patient
notify = yes
stop-timeout = 20s
shutdown-timeout = 40s
[watched]
command = $talker $dir/watched
ready = notify
watchdog = 1h
restart = never
[hung]
command = $talker $dir/hung
ready = notify
watchdog = 100ms
restart = never
[tough]
command = $helpers/signal-log $dir/tough
ready = exec:grep -q ready $dir/tough
watchdog = 100ms
watchdog-signal = USR2
stop-timeout = 300ms
restart = never
[replaced]
command = $talker $dir/replaced
notify = yes
restart = never
[detached]
command = $talker $dir/detached
notify = yes
restart = never
[orphaned]
command = $talker $dir/orphaned
notify = yes
restart = never
[left]
command = sh -c '$talker $dir/left & exec $helpers/idle'
notify = yes
kill-leftovers = no
[asked]
command = $talker $dir/asked
notify = yes
stop-command = sh -c 'read -r _ <$dir/go'
stop-timeout = 20s
[other]
command = $helpers/idle
[hooked]
command = $talker $dir/hooked
ready = notify
start-timeout = 30s
post-start = $helpers/idle
END
for fifo in talk quick patient watched hung replaced detached orphaned hooked left asked go; do
	mkfifo "$dir/$fifo"
done

tell() { # SERVICE COMMAND...: returns when it is carried out and the daemon has processed its messages
	local service=$1 before
	shift
	before=$(grep -c '^talker: barrier is over' "$log")
	printf '%s\nbarrier\n' "$*" >"$dir/$service"
	wait_for 20 more_barriers_than "$before" || die "$service: $*"
}
more_barriers_than() { [ "$(grep -c '^talker: barrier is over' "$log")" -gt "$1" ]; }
order() { # SERVICE COMMAND...: the process does not live to confirm it
	local service=$1
	shift
	echo "$*" >"$dir/$service"
}
has_field() { [ "$(field "$1" "$2")" = "$3" ]; } # NODE JQ-PATH VALUE
is_at_least() { [ "$(field "$1" ".service.$2")" -ge "$3" ]; }
is_at_most() { [ "$(field "$1" ".service.$2")" -le "$3" ]; }

start_daemon

# --- Messages of a service about itself ----------------------------------------------------------

tell talk 'say STATUS=warming up'
is "a service is starting until it sends READY=1" "$(state talk)" starting
is "its status is shown" "$(field talk .service.status)" 'warming up'
tell talk 'say EXTEND_TIMEOUT_USEC=100000000'
ok "a start may take longer than was meant" is_at_least talk next_usec 60000000
tell talk 'say EXTEND_TIMEOUT_USEC=9000000000000'
ok "but not for ever" is_at_most talk next_usec 300000000
tell talk 'say EXTEND_TIMEOUT_USEC=1'
ok "and it never becomes shorter by that" is_at_least talk next_usec 60000000
tell talk 'say READY=1|STATUS=serving|ERRNO=2|BUSERROR=org.example.Error'
is "it is up" "$(state talk)" up
is "with a new status" "$(field talk .service.status)" serving
is "and an error" "$(field talk .service.error)" 2
like "which has a name for people" "$(ctl status talk)" 'error: *2 \(No such file or directory\)'

tell talk "say RELOADING=1|MONOTONIC_USEC=1"
ok "it reloads since the time of its message" is_at_least talk reloading_usec 1000000
is "and is up" "$(state talk)" up
like "which is shown" "$(ctl status)" 'talk .*, reloading'
tell talk 'say READY=1'
is "until it is ready again" "$(field talk .service.reloading_usec)" null
tell talk 'say RELOADING=1|MONOTONIC_USEC=0'
ok "also with a time of 0" is_at_least talk reloading_usec 0
tell talk 'say RELOADING=1|MONOTONIC_USEC=18446744073709551615'
ok "or is not yet" is_at_most talk reloading_usec 100000000
tell talk 'say READY=1'

# --- Messages that are ignored, and senders without a service ------------------------------------

tell talk 'oversized'
is "a message that is too long is not read" "$(field talk .service.status)" serving
tell talk 'flood 500'
is "a flood is read to its end" "$(field talk .service.status)" 'flood 499'
address=$(tr '\0' '\n' <"/proc/$(pid_of talk)/environ" | sed -n 's/^NOTIFY_SOCKET=//p')
forge() { # TEXT
	python3 - "$address" "$1" <<-'PYTHON'
		import os, socket, sys
		ours, theirs = os.pipe()
		link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		link.connect(sys.argv[1])
		socket.send_fds(link, [sys.argv[2].encode()], [theirs])
		os.close(theirs)
		os.read(ours, 1)
	PYTHON
}
ok "a descriptor from an unowned process is closed" forge 'STATUS=forged'
is "a message of an unowned process does not count" "$(field talk .service.status)" 'flood 499'
SWANSONG_NODE='talk' forge 'STATUS=forged'
is "nor does it with the environment of a service" "$(field talk .service.status)" 'flood 499'

# --- Its end -------------------------------------------------------------------------------------

tell quick 'say READY=1'
tell quick 'say STOPPING=1|STATUS=closing'
is "a service that sends STOPPING=1 is not ready any more" "$(field quick .service.ready)" false
is "and is given time" "$(state quick)" cleaning
is "as is shown" "$(field quick .service.ending)" true
order quick 'exit 0'
ok "a good end is one" wait_for 10 has_state quick 'done'
ok "and gets no signal" not says "$log" 'quick: SIG'

# All of it at once, for a daemon that stood still meanwhile; and more than it reads in one turn.
ctl start quick --no-wait >/dev/null
tell quick 'say STATUS=begun'
quick=$(pid_of quick)
kill -STOP "$daemon"
printf 'say READY=1\nflood %s\nsay STATUS=last words|ERRNO=5\nexit 3\n' "$((room / 2))" >"$dir/quick"
wait_for 10 is_zombie_or_gone "$quick"
kill -CONT "$daemon"
ok "a bad one is a failure" wait_for 10 has_state quick failed
is "its last words have been heard" "$(field quick .service.status)" 'last words'
is "to the end" "$(field quick .service.error)" 5
like "and how it ended" "$(field quick .service.result)" '^exited with status 3$'

tell patient 'patient'
ok "a stop begins" ctl stop patient --no-wait
ok "it has been signalled" wait_for 10 has_state patient stopping
tell patient 'say EXTEND_TIMEOUT_USEC=30000000'
ok "a stop may take longer than was meant" is_at_least patient next_usec 20000001
tell patient 'say EXTEND_TIMEOUT_USEC=9000000000000'
ok "but not longer than the node has" is_at_most patient next_usec 40000000
order patient 'exit 0'
ok "it ends" wait_for 10 has_state patient down

ctl stop asked --no-wait >/dev/null
ok "a stop begins with its command" wait_for 10 has_state asked asking
began=$(now)
tell asked 'patient'
tell asked 'say EXTEND_TIMEOUT_USEC=9000000000000'
ok "without a budget that may take longer" is_at_least asked next_usec 100000000
waited() { [ "$(now)" -gt $((began + 3000)) ]; }
wait_for 10 waited
echo >"$dir/go"
ok "and of the processes after it" wait_for 10 has_state asked stopping
tell asked 'say EXTEND_TIMEOUT_USEC=9000000000000'
ok "as long as a stop may take in all" is_at_most asked next_usec 197000000
order asked 'exit 0'
ok "it ends, too" wait_for 10 has_state asked down

# --- The store of a service that is not started again ---

tell left 'patient'
tell left 'store kept'
is "a descriptor is kept" "$(field left .service.stored)" 1
ctl stop left --no-wait >/dev/null
ok "a service ends, and leaves a process" wait_for 10 has_state left down
is "then nothing is kept any more" "$(field left .service.stored)" null
tell left 'store late'
is "and nothing more is" "$(field left .service.stored)" null
order left 'exit 0'
ok "until it is complete" ctl wait left --timeout 60s

# --- The watchdog --------------------------------------------------------------------------------

ok "the service has the variables of its watchdog" wait_for 10 says "$log" '^talker: begins, WATCHDOG_PID WATCHDOG_USEC'
tell watched 'say STATUS=x'
is "a starting service has no watchdog" "$(field watched .service.watchdog_usec)" null
tell watched 'say READY=1'
ok "a service that is up has one" is_at_most watched watchdog_usec 3600000000
tell watched 'say WATCHDOG_USEC=7200000000|WATCHDOG=1'
ok "as long as he wants it" is_at_least watched watchdog_usec 3600000001
like "as is shown" "$(ctl status watched)" 'watchdog: *next WATCHDOG=1 expected in'
order watched 'say WATCHDOG=trigger'
ok "a service that triggers its own watchdog is ended" wait_for 10 has_state watched failed
like "with the watchdog as its result" "$(field watched .service.result)" '^watchdog: '
order hung 'say READY=1'
ok "so is a service that gives no sign of life" wait_for 10 has_state hung failed
like "with the watchdog as its result, too" "$(field hung .service.result)" '^watchdog: '
ok "by SIGABRT" says "$log" "${said}hung: SIGABRT to pid"

ok "or by another signal, which he may not follow" wait_for 10 has_state tough failed
is "which is the first that he gets" "$(sed -n 2p "$dir/tough")" USR2
like "then he is killed at his stop-timeout" "$(field tough .service.result)" '^watchdog: '
ok "with its watchdog signal, and then SIGKILL" in_order ' tough: SIGUSR2 to pid' ' tough: killing pid'

# --- The main process ----------------------------------------------------------------------------

before=$(pid_of replaced)
tell replaced "name $(pid_of other)"
is "another service's process is not taken" "$(pid_of replaced)" "$before"
tell replaced 'name 1'
tell replaced 'name 4194304'
is "nor is a process of no service, or none" "$(pid_of replaced)" "$before"
ok "and the refusal is logged" says "$log" 'replaced: MAINPID=1 is refused: not a process of the service'
tell replaced 'main'
after=$(pid_of replaced)
not_pid() { [ "$1" != "$2" ]; }
ok "a child takes its place" not_pid "$before" "$after"
is "and the service is in the same state" "$(state replaced)" up
like "the former main process is a remaining process" "$(ctl guards)" "leftover .*$before"
kill -KILL "$before"
ok "its end is not the service's" wait_for 10 says "$log" "replaced: remaining pid $before .* has ended"
is "which is up" "$(state replaced)" up
tell replaced 'say STATUS=orphan'
is "and heard" "$(field replaced .service.status)" orphan
order replaced 'exit 7'
ok "the end of the new one is" wait_for 10 has_state replaced failed
like "with its own status" "$(field replaced .service.result)" 'exited with status 7'

tell hooked 'say READY=1'
ok "it is not up before its post-start is over" wait_for 10 has_state hooked readying
tell hooked 'say EXTEND_TIMEOUT_USEC=100000000'
ok "the commands of a start may take longer, too" is_at_least hooked next_usec 60000000
before=$(pid_of hooked)
hook=$(ctl guards --json | jq -r ".guards[] | select(.node == \"hooked\" and .pid != $before) | .pid")
tell hooked "name $hook"
is "its post-start is not taken for the main process" "$(pid_of hooked)" "$before"
ok "and the refusal is logged" says "$log" "hooked: MAINPID=$hook is refused"
tell hooked 'main'
ok "but another one is" not_pid "$before" "$(pid_of hooked)"
ok "it can be stopped" ctl stop hooked

before=$(pid_of detached)
tell detached 'detach'
ok "a process of another session becomes the main process" not_pid "$before" "$(pid_of detached)"
ok "while the first one ends" wait_for 10 says "$log" "detached: remaining pid $before .* has ended"
is "and it is up" "$(state detached)" up
ok "it can be stopped" ctl stop detached
is "it is signalled like any other" "$(state detached)" down

before=$(pid_of orphaned)
tell orphaned 'main'
kill -STOP "$before"
order orphaned 'exit 0'
ok "the end of a main process that is no child is noticed" wait_for 10 has_state orphaned failed
like "its exit status is unknown" "$(field orphaned .service.result)" 'ended; exit status unknown'
ok "the former main process is ended with it, though it was stopped" gone "$before"

stop_daemon
is "the daemon ends" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
finish
