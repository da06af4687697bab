#!/bin/bash
# The resource agent for Pacemaker, without a cluster: all actions, a stop within its time, a daemon that was killed
# or hangs, and mistakes.
. "${0%/*}/lib.sh"
requires_root
: "${OCF_ROOT:=/usr/lib/ocf}"
export OCF_ROOT
[ -e "$OCF_ROOT/lib/heartbeat/ocf-shellfuncs" ] || skip_all "package resource-agents"
requires_package xmllint libxml2-utils
requires_package python3 python3

agent=$(realpath "$top_builddir")/contrib/pacemaker/swansong
export OCF_RESOURCE_INSTANCE=shop
export OCF_RESKEY_config=$ini OCF_RESKEY_log=$log OCF_RESKEY_socket=$socket
OCF_RESKEY_daemon=$(realpath "$swansongd")
OCF_RESKEY_ctl=$(realpath "$swansongctl")
export OCF_RESKEY_daemon OCF_RESKEY_ctl
pid_file=/run/resource-agents/swansong-shop.pid

# Statuses of OCF.
success=0 generic=1 arguments=2 unimplemented=3 installed=5 configured=6 not_running=7

# Its status is $status, its time $took.
act() { # ACTION [TIMEOUT-IN-SECONDS [LEVEL]]
	local began
	began=$(now)
	OCF_RESKEY_CRM_meta_timeout=$((${2:-60} * 1000)) OCF_CHECK_LEVEL=${3:-0} __OCF_ACTION=$1 \
		timeout -s KILL 90 "$agent" "$1" >"$dir/act" 2>&1 </dev/null
	status=$?
	took=$(($(now) - began))
}
acts() { # NAME STATUS ACTION [TIMEOUT [LEVEL]]
	local name=$1 want=$2
	shift 2
	act "$@"
	is "$name" "$status" "$want"
	[ "$status" = "$want" ] || comment <"$dir/act"
}
agents_daemon() { cat "$pid_file"; }
copies() { pgrep -fc "^$(realpath "$helpers")/idle"; }

tree() { # LINE...: of another service
	{
		rm -f "$dir/web" "$dir/late"
		printf '[store]\ncommand = %s/idle\n' "$(realpath "$helpers")"
		printf '%s\n' "$@"
	} | config
}
# A service that needs so many seconds to end, and is not killed for a minute.
slow() { # NODE SECONDS
	printf '[%s]\nrequires = store\nstop-timeout = 60s\n' "$1"
	# shellcheck disable=SC2016  # for the service
	printf 'command = sh -c '\''trap "sleep %s; echo %s: done; exit" TERM; touch %s; while :; do sleep 0.1; done'\''\n' \
		"$2" "$1" "$dir/$1"
	printf 'ready = exec:test -e %s\n' "$dir/$1"
}

# --- All actions ---------------------------------------------------------------------------------

tree
if command -v ocf-tester >/dev/null; then
	ok "ocf-tester passes" ocf-tester -n shop "$agent"
else
	skip "ocf-tester passes" "machine: its resource-agents has none"
fi
acts "an action that is not there is refused" $unimplemented promote

tree "$(slow web 1)"
: >"$log"
acts "a resource that was never started is not running" $not_running monitor
acts "the start waits until the tree is ready" $success start
ok "it is" test -e "$dir/web"
first=$(agents_daemon)
acts "another start is a success" $success start
is "and starts nothing" "$(agents_daemon) $(copies)" "$first 1"
acts "the monitor asks whether swansongd answers" $success monitor
acts "or whether all services are well" $success monitor 60 10
acts "the stop waits for the drain" $success stop
ok "of which nothing is cut short" says "$log" '^web +\| web: done'
ok "its reason is in the log" says "$log" 'asked by .*: resource shop is stopped by Pacemaker'
acts "then it is not running" $not_running monitor
acts "another stop is a success" $success stop
ok "nothing remains" nobody_else

# --- Processes of other users ---------------------------------------------------------------------

# Another user marks processes of its own with the name of the resource, and with all that it reads in the command
# lines of others and in the files of the agent.
as_other() { exec setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH="$PATH" "$@"; }
cat >"$dir/forge" <<'END'
OCF_SWANSONG=$1 setsid sleep 4321 &
until [ -s "$2" ]; do
	cat /run/resource-agents/swansong-* /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' |
		grep -m 1 '^OCF_SWANSONG=.' >"$2"
done
env "$(cat "$2")" setsid sleep 4321 &
END
forgeries() { pgrep -cfx 'sleep 4321'; }
install -m 666 /dev/null "$dir/learned"
as_other sh "$dir/forge" shop "$dir/learned" &
spy=$!
cleanup_fn end_process $spy
wait_for 10 forgeries >/dev/null || die "another user runs a process with the mark of the name"
acts "it makes no resource run" $not_running monitor
tree "$(slow web 1)"
acts "or fail at its start" $success start
: "$(for ((i = 0; i < 5; i++)); do act monitor; done)"
kill -KILL "$(agents_daemon)"
wait_for 10 is_zombie_or_gone "$(agents_daemon)"
acts "the services of a killed daemon are known beside it" $generic monitor
acts "and are ended" $success stop 20
is "and nothing else" "$(copies) $(forgeries)" "0 1"
acts "after a stop nothing runs" $not_running monitor
is "no other user has read the mark" "$(cat "$dir/learned")" ""
end_process $spy
pkill -KILL -fx 'sleep 4321'

mkdir "$dir/mount"
python3 "$top_srcdir/tests/helpers/unreadable.py" "$dir/mount" 65534 sleep 4321 &
unreadable=$!
locks() { [ "$(cat "/proc/$unreadable/comm")" = sleep ]; }
wait_for 20 locks || die "another user has a process with an environment that cannot be read"
acts "it does not keep a resource from starting" $success start
kill -KILL "$(agents_daemon)"
wait_for 10 is_zombie_or_gone "$(agents_daemon)"
acts "nor the services of a killed daemon from being known" $generic monitor
acts "or ended" $success stop 40
acts "nor a monitor from its result" $not_running monitor
end_process "$unreadable"
is "no service is left" "$(copies)" 0
umount "$dir/mount"

# A process of a user that is none of the services' has inherited the mark, as a login by a service does.
left_by_login() { pgrep -u 65532 -cfx 'sleep 4321'; }
tree '[web]' 'command = setpriv --reuid=65533 --regid=65533 --clear-groups sleep 5678'
acts "a service changes its user" $success start
acts "and is monitored" $success monitor
env "$(cat /run/resource-agents/swansong-shop.mark)" setpriv --reuid=65532 --regid=65532 --clear-groups \
	setsid sleep 4321 &
foreign=$!
cleanup_fn end_process $foreign
ok "a process of a foreign user has inherited the mark" wait_for 10 left_by_login
kill -KILL "$(agents_daemon)"
wait_for 10 is_zombie_or_gone "$(agents_daemon)"
acts "the services of a killed daemon make the resource a failed one" $generic monitor
pkill -KILL -f "^$(realpath "$helpers")/idle"
acts "so does a service that has changed its user" $generic monitor
pkill -KILL -fx 'sleep 5678'
acts "the process of a foreign user does not" $not_running monitor
acts "and a start is a success beside it" $success start
acts "as is a stop" $success stop
is "which kills no process of a foreign user" "$(left_by_login)" 1
pkill -KILL -fx 'sleep 4321'

# Another user puts a link in place of the log.
install -d -o 65534 "$dir/home"
mkdir "$dir/etc"
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
as_user ln -s "$dir/etc/cron" "$dir/home/log"
tree '[web]' "command = sh -c 'echo evil line; exec sleep 5678'" 'user = 65534' 'log = inherit'
OCF_RESKEY_log=$dir/home/log acts "a log in a directory of another user" $success start
acts "is stopped" $success stop
ok "no link of that user is followed" not test -e "$dir/etc/cron"
as_user rm "$dir/home/log"
OCF_RESKEY_log=$dir/home/log acts "without the link" $success start
act stop
ok "the file has the log of the daemon" says "$dir/home/log" 'root: complete'
ln -s "$dir/home" "$dir/logs"
OCF_RESKEY_log=$dir/logs/other acts "a directory of another user behind a link of root" $success start
act stop
ok "has it, too" says "$dir/home/other" 'root: complete'
ok "and no output of services" not says "$dir/home/other" 'evil line'
ln -s "$dir" "$dir/etc/here"
OCF_RESKEY_log=$dir/etc/here/log acts "links of root alone" $success start
act stop
ok "lead to a file that has the output of services" says "$log" 'evil line'

# --- Failures of services ------------------------------------------------------------------------

tree '[web]' 'command = false' 'ready = notify' 'restart = always' 'restart-delay = 1h' 'restart-delay-max = 1h'
acts "a service that will start again by itself: the tree is not ready in time" $generic start 5
within "the start ends before its timeout" "$took" 0 4900
acts "its monitor has no objection" $success monitor 60 10
acts "it can be stopped" $success stop
tree '[web]' 'command = false' 'ready = notify' 'restart = never'
act start
acts "a service that is given up is a failure at level 10 alone" $success monitor
acts "there it is one" $generic monitor 60 10
like "which names it" "$(cat "$dir/act")" web
acts "the tree can be stopped" $success stop

# --- A stop within its time ----------------------------------------------------------------------

tree "$(slow web 2)" "$(slow late 50)"
: >"$log"
act start
acts "a drain that is longer than the timeout is a success" $success stop 12
within "it ends before the timeout" "$took" 2000 11900
ok "the service that is late is killed" says "$log" 'late: .*SIGKILL'
ok "the other one ends by itself" says "$log" 'web: done'
ok "the store that both need ends after them, by its signal" in_order 'late: killed by SIGKILL' 'store: SIGTERM' \
	'store: killed by SIGTERM'
ok "nothing remains" nobody_else

tree "$(slow web 1)"
: >"$log"
act start
rm "$socket"
acts "without its socket the daemon gets the signal" $success stop
ok "which is a drain, too" says "$log" 'web: done'

# --- A daemon that was killed or hangs -----------------------------------------------------------

tree "$(slow web 1)"
killed_daemon() {
	act start
	kill -KILL "$(agents_daemon)"
	wait_for 10 is_zombie_or_gone "$(agents_daemon)"
	: >"$log"
	acts "$1: its services make the resource a failed one" $generic monitor
	acts "the stop ends them" $success stop 20
	within "in time" "$took" 0 19900
	ok "none remains" nobody_else
	acts "then it is not running" $not_running monitor
	act start
	kill -KILL "$(agents_daemon)"
	acts "$1: a start without a stop" $success start
	is "leaves one copy" "$(copies)" 1
	act stop
	ok "and the next stop none" nobody_else
}
killed_daemon "a daemon is killed"

# A process that has got rid of its environment is found by its control group alone.
make_escape
has_groups() { [ -w /sys/fs/cgroup/story/cgroup.procs ]; }
if has_groups; then
	tree '[web]' "command = sh -c '$dir/escape sleep 1234; sleep infinity'"
	act start
	ok "a process escapes" wait_for 10 pgrep -fx 'sleep 1234'
	kill -KILL "$(agents_daemon)"
	acts "the stop after a kill" $success stop 30
	ok "ends that, too" not pgrep -fx 'sleep 1234'
	ok "nothing remains" nobody_else
else
	skip "a process that escapes" "machine: no control groups"
fi

tree "$(slow web 1)"
act start
kill -STOP "$(agents_daemon)"
acts "a daemon that hangs is a failure" $generic monitor 5
within "which is reported in time" "$took" 0 4900
acts "a start does not change that" $generic start 5
acts "the stop kills the tree" $success stop 10
within "in time" "$took" 0 9900
ok "nothing remains" nobody_else

# The agent is killed during a start, as Pacemaker does at the timeout.
tree '[web]' 'command = sleep infinity' 'ready = notify' 'start-timeout = 1h'
: >"$log"
(act start) &
starting=$!
wait_for 10 says "$log" 'web: started' || die "the tree starts"
pkill -KILL -f "^/bin/sh $agent start"
wait "$starting" 2>/dev/null
acts "a start that was killed is known" $success monitor
acts "and can be stopped" $success stop
# The swansongctl of the killed agent waits until the daemon ends.
ok "nothing remains" wait_for 10 nobody_else

# --- Resources of similar names, and mistakes ----------------------------------------------------

tree
act start
OCF_RESOURCE_INSTANCE=sho. OCF_RESKEY_socket=$dir/other acts "a resource of another name is not running" $not_running monitor
OCF_RESOURCE_INSTANCE=sho. OCF_RESKEY_socket=$dir/other acts "its stop" $success stop
is "stops no other one" "$(copies)" 1
act stop

OCF_RESKEY_config=$dir/none acts "a missing configuration" $installed start
OCF_RESKEY_config=$dir/none acts "is no obstacle to a probe" $not_running monitor
OCF_RESKEY_config=$dir/none acts "or a stop" $success stop
OCF_RESKEY_daemon=$dir/none acts "a missing program" $installed start
like "is named" "$(cat "$dir/act")" "daemon: expected .* a program.*'$dir/none'"
OCF_RESKEY_ctl=$ini acts "one that is not executable" $installed validate-all
like "is named, too" "$(cat "$dir/act")" "ctl: expected .* a program.*'$ini'"
mkdir "$dir/bin"
ln -s /bin/false "$dir/bin/which"
PATH=$dir/bin:$PATH acts "the programs are found without which" $success validate-all
OCF_RESKEY_log=here.log acts "a log without a folder" $configured validate-all
OCF_RESKEY_socket=here.sock acts "a socket without a folder" $configured validate-all
like "is explained" "$(cat "$dir/act")" "socket: expected an absolute path.*'here.sock'"
tree 'stop-timout = 1s'
acts "a configuration with a mistake is one of this node" $arguments validate-all
like "with its line" "$(cat "$dir/act")" 'swansong.ini:3: .*stop-timout'
acts "with it nothing starts" $arguments start

# --- Without control groups ----------------------------------------------------------------------

hide_cgroups
tree "$(slow web 1)"
killed_daemon "without control groups a daemon is killed"
ok "nothing remains" nobody_else
finish
