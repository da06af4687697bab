# shellcheck shell=bash
# Functions of the integration tests.  A test sources this file first, and is a story then:
#
#	. "${0%/*}/lib.sh"
#	config <<-END
#	[web]
#	command = $helpers/idle
#	END
#	start_daemon
#	is "web is up" "$(state web)" up
#	finish
#
# Each test is PID 1 of a world of its own (with-world), so that tests run side by side.  With
# world=systemd, set before this is sourced, a test is inside a machine that a real systemd has
# booted, and with world=vm in one with a kernel of its own, where there are control groups with all
# their controllers and nothing can be written but to $dir.
#
# Results are TAP.  A missing prerequisite is a skip, "package NAME" or "machine: WHY"; never a pass.

set -u
LC_ALL=C
export LC_ALL
unset NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID LISTEN_FDS LISTEN_PID
unset PYTHONUNBUFFERED # else its prints to a shared log would be pieces of lines

# By hand: tests/integration/NAME.sh from the build folder.
: "${top_builddir:=$PWD}"
: "${top_srcdir:=$(cd "${0%/*}/../.." && pwd)}"
: "${sysconfdir:=/usr/local/etc}"
: "${pkglibexecdir:=/usr/local/libexec/swansong}"
export top_builddir top_srcdir

# --- The world -----------------------------------------------------------------------------------

skip_all() { # REASON; after the first tests it is the rest that is skipped
	if [ "${n_tests:-0}" -gt 0 ]; then
		skip "the rest" "$1"
		finish
	fi
	trap - EXIT
	[ -z "${dir:-}" ] || rm -rf "$dir"
	echo "1..0 # SKIP $1"
	exit 0
}

requires_package() { # COMMAND PACKAGE
	command -v "$1" >/dev/null || skip_all "package $2"
}

# With the other users: the root of a user namespace of a world has none.
is_root() { [ "$(id -u)" = 0 ] && [ "$(awk '{ print $3; exit }' /proc/self/uid_map)" != 1 ]; }
requires_root() { is_root || skip_all "machine: needs root"; }

PATH=$PATH:/usr/sbin:/sbin
requires_package unshare util-linux
requires_package ps procps
requires_package ip iproute2
requires_package jq jq

if [ -z "${in_world:-}" ]; then
	world_of=("$top_srcdir/tests/integration/with-world")
	case ${world:=own} in
	systemd)
		requires_root
		requires_package systemd-nspawn systemd-container
		world_of+=("$top_srcdir/tests/integration/with-systemd"
			--bind "$top_srcdir" --bind "$top_builddir")
		;;
	vm)
		requires_root
		command -v linux.uml >/dev/null ||
			skip_all "machine: no user-mode Linux (Debian: user-mode-linux)"
		world_of+=("$top_srcdir/tests/integration/with-vm")
		;;
	esac
	in_world=yes exec "${world_of[@]}" bash "$(realpath "$0")" "$@"
fi

# --- Files and programs of a test ----------------------------------------------------------------

dir=$(mktemp -d)
chmod 755 "$dir"
ini=$dir/swansong.ini
socket=$dir/socket
log=$dir/log
daemon=
export SWANSONG_SOCKET=$socket
finds_programs() {
	helpers=$top_builddir/tests/helpers
	swansongd=$top_builddir/swansongd
	swansongctl=$top_builddir/swansongctl
	# For the stories, and for their children.
	: "$ini" "$log" "$helpers" "$swansongctl"
	export SWANSONG_LOGGER SWANSONG_SANDBOX SWANSONG_SUPPORT_DUMP SWANSONG_SECURITY SWANSONG_PLOT SWANSONG_REHEARSE
	SWANSONG_LOGGER=$(realpath "$top_builddir")/swansong-logger
	SWANSONG_SANDBOX=$(realpath "$top_builddir")/swansong-sandbox
	SWANSONG_SUPPORT_DUMP=$top_srcdir/contrib/support/support-dump
	SWANSONG_SECURITY=$top_srcdir/contrib/security/security
	SWANSONG_PLOT=$top_srcdir/contrib/plot/plot
	SWANSONG_REHEARSE=$top_srcdir/contrib/rehearse/rehearse
}
finds_programs

# Replaces all homes by none.  The clone may be in one, and has another path then: not below $dir, which is removed.
hides_homes() {
	mount -t tmpfs tmpfs /mnt
	mkdir /mnt/source /mnt/build
	mount --bind "$top_srcdir" /mnt/source
	mount --bind "$top_builddir" /mnt/build
	mount -t tmpfs tmpfs /home
	top_srcdir=/mnt/source top_builddir=/mnt/build
	finds_programs
	cd "$top_builddir" || die "the build is at its other path"
}

# Lines for a configuration of nginx that writes below FOLDER alone.
nginx_folders() { # FOLDER
	printf '%s_temp_path '"$1"'/%s; ' client_body body proxy proxy fastcgi fastcgi uwsgi uwsgi scgi scgi
}

# --- TAP -----------------------------------------------------------------------------------------

n_tests=0
n_failed=0

comment() { # reads input of any kind
	awk '{ print "# " $0 }' # awk ends a last line that has no end
}

result() { # STATUS NAME
	n_tests=$((n_tests + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n_tests - $2"
	else
		n_failed=$((n_failed + 1))
		echo "not ok $n_tests - $2"
	fi
}

ok() { # NAME COMMAND...: the command succeeds; a line of a log may come in a later turn, or from the logger
	local ok_name=$1 ok_status=0 # not visible to the command
	shift
	case $1 in says | in_order) set -- wait_for 10 "$@" ;; esac
	"$@" >"$dir/ok.out" 2>&1 || ok_status=$?
	result "$ok_status" "$ok_name"
	[ "$ok_status" = 0 ] || { echo "exit status $ok_status of: $*"; cat "$dir/ok.out"; } | comment
}

not() { ! "$@"; }

is() { # NAME GOT WANT
	local status=0
	[ "$2" = "$3" ] || status=1
	result "$status" "$1"
	[ "$status" = 0 ] || printf 'got:  %s\nwant: %s\n' "$2" "$3" | comment
}

like() { # NAME TEXT REGEX
	local status=0
	[[ $2 =~ $3 ]] || status=1
	result "$status" "$1"
	[ "$status" = 0 ] || printf 'got:  %s\nwant: /%s/\n' "$2" "$3" | comment
}

within() { # NAME MILLISECONDS LEAST MOST
	local status=0
	[ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || status=1
	result "$status" "$1"
	[ "$status" = 0 ] || echo "took $2 ms, want $3 to $4" | comment
}

skip() { # NAME REASON
	n_tests=$((n_tests + 1))
	echo "ok $n_tests - $1 # SKIP $2"
}

# The last line of every test.
finish() {
	finished=yes
	exit $((n_failed > 0))
}

die() { # NAME: it failed, and the other tests need it
	result 1 "$1"
	finish
}

# --- Ends ----------------------------------------------------------------------------------------

cleanups=()
cleanup_fn() { # COMMAND...: to be called at the exit, the last one first
	cleanups+=("$(printf '%q ' "$@")")
}

at_exit() {
	local status=$? i
	trap '' TERM INT HUP
	[ -n "${finished:-}" ] || result 1 "the test came to its end (left with status $status)"
	! grep -q 'logger: message refused: .*: File exists' "$log" 2>/dev/null || result 1 "the logger gets each stream once"
	for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do
		eval "${cleanups[i]}"
	done
	if [ "$n_failed" != 0 ] && [ -s "$log" ]; then
		{ echo "--- the daemon's log:"; tail -n 200 "$log"; } | comment
	fi
	rm -rf "$dir"
	echo "1..$n_tests"
	[ "$n_failed" = 0 ] || exit 1
	exit 0
}
trap at_exit EXIT
trap 'exit 1' TERM INT HUP

end_process() { # PID: of this story, if it still exists
	kill -KILL "$1" 2>/dev/null && wait "$1" 2>/dev/null
	return 0
}

# --- Time ----------------------------------------------------------------------------------------

# Waits for a condition without an event of its own; never for time to pass.  The condition is checked once
# more after the deadline.  On a machine so busy that there were less than four checks in a second, the wait takes
# up to four times as long.
wait_for() { # SECONDS CONDITION...
	local wait_time=$(($1 * 1000000)) wait_since=${EPOCHREALTIME/[.,]/} wait_took wait_checks=0
	shift
	while wait_took=$((${EPOCHREALTIME/[.,]/} - wait_since)); ! "$@"; do
		((wait_took < wait_time || (wait_checks * 250000 < wait_time && wait_took < 4 * wait_time))) || return 1
		# A long wait leaves the processor to what it waits for.
		sleep "0.0$((++wait_checks > 20 ? 5 : 2))"
	done
}

now() { # milliseconds
	local t=${EPOCHREALTIME/[.,]/}
	echo "${t%???}"
}

gone() { # PID...
	local pid
	for pid; do
		! kill -0 "$pid" 2>/dev/null || return 1
	done
}

is_zombie_or_gone() { # PID
	gone "$1" || [[ $(ps -o stat= -p "$1") == Z* ]]
}
is_stopped() { [[ $(ps -o stat= -p "$1") == T* ]]; } # PID

# How a line of the daemon in $log begins: an extended regular expression.
said='^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z swansongd: '
: "$said"

says() { # FILE REGEX
	grep -Eq -- "$2" "$1" 2>/dev/null
}

# --- The daemon ----------------------------------------------------------------------------------

config() { # reads the configuration
	cat >"$ini"
}

# The real file of a program, which may be a wrapper of libtool's.
program() { # NAME
	local real=$top_builddir/.libs/$1
	[ -x "$real" ] || real=$top_builddir/$1
	echo "$real"
}

# An upgrade refuses a program that another user may change, such as the owner of a clone.
own_program() {
	cp "$(program swansongd)" "$dir/swansongd"
	swansongd=$dir/swansongd
}

# A daemon of $ini that answers.  $log has its messages, every change of state (-v), and the output of its
# services.
start_daemon() { # [OPTION...]
	launch "$swansongd" -v -c "$ini" --socket "$socket" "$@"
	if ! wait_for 10 ctl_answers || gone "$daemon"; then
		die "swansongd answers"
	fi
}

# Any program as "the daemon".
launch() { # COMMAND...
	"$@" >>"$log" 2>&1 </dev/null &
	daemon=$!
	cleanup_fn end_process "$daemon"
}

# Nothing here ends just after its start, unless a story is about that: start and restart do not watch.
ctl() {
	if [[ " $* " =~ ^(\ -[^ ]+(\ [0-9]+m?s)?)*\ (start|restart)\  ]]; then
		"$swansongctl" --settle 0 "$@"
	else
		"$swansongctl" "$@"
	fi
}

ctl_answers() { gone "$daemon" || ctl status >/dev/null 2>&1; }

# The number of control connections: the daemon has closed those of clients that have ended.
has_connections() { # NUMBER
	local listed
	listed=$(awk -v path="$socket~" '$8 == path' /proc/net/unix | wc -l)
	[ "$listed" = $((1 + $1)) ] # with the one that listens
}

# Its descriptors, once no client is connected.
descriptors() {
	wait_for 10 has_connections 0 || return
	find "/proc/$daemon/fd" -type l | wc -l
}
has_descriptors() { [ "$(descriptors)" = "$1" ]; } # NUMBER

# Its resident memory in kB, exactly: VmRSS is counted for each processor, and wrong by 30 MB where there are many.
memory_of() { awk '/^Rss:/ { print $2 }' "/proc/$1/smaps_rollup"; } # PID

# Waits for the daemon's end; $status is its exit status.
await_daemon() { # SECONDS
	status=
	if wait_for "$1" gone "$daemon"; then
		wait "$daemon"
		status=$?
	else
		status="none: still there after $1 s"
		end_process "$daemon"
	fi
}

stop_daemon() { # [SECONDS]
	kill -TERM "$daemon" 2>/dev/null
	await_daemon "${1:-10}"
}

# The daemon below its keeper: the oldest of that name, as a service has it until it executes its program.
worker() { pgrep -o -P "$daemon" -x swansongd; }

# A service that writes numbers, and a look at them.
# shellcheck disable=SC2034 # for the stories
counting="sh -c 'i=0; while i=\$((i + 1)); do echo \$i; [ \$((i %% 20)) != 0 ] || sleep 0.01; done'"
has_each_line() { # LEAST: so many are in $dir/count.log, none lost or doubled
	awk -v least="$1" '$1 != NR { print "line " NR " is " $1; wrong = 1; exit } END { exit wrong || NR < least }' \
		"$dir/count.log"
}

# Five faults within a minute are survived; the next one is the end of it.
has_faults() { [ "$(grep -c ' fault: SIG' "$log")" = "$1" ]; } # COUNT
spend_faults() {
	local i
	: >"$log"
	for i in {1..5}; do
		kill -ABRT "$daemon"
		wait_for 10 has_faults "$i" || die "fault $i is reported"
		wait_for 10 ctl_answers || die "it goes on after $i faults"
	done
}

# Its children: the logger, which leads a session, and not its helpers, which have its name and come to the
# daemon when it is killed; and the processes of services.
logger() {
	ps -e -o pid=,ppid=,sid=,comm= |
		awk -v d="$daemon" '$2 == d && $1 == $3 && $4 == "swansong-logger" { print $1; exit }'
}
services() { ps -e -o pid=,ppid=,comm= | awk -v d="$daemon" '$2 == d && $3 != "swansong-logger" { print $1 }'; }

# A value of `swansongctl status --json`: field web/nginx .service.pid
field() { # NODE JQ-PATH
	case $2 in
	*[!.a-z_]*) ctl status --json | jq -r --arg path "$1" ".nodes[] | select(.path == \$path) | $2" ;;
	*) ctl status --json | "$helpers/json-field" "$1" "$2" ;;
	esac
}

# The command kills, or revokes a guard: its output and its exit status show it.
by_force() { # COMMAND...
	local force_status=0
	"$@" >"$dir/by_force" 2>&1 || force_status=$?
	cat "$dir/by_force"
	[ "$force_status" = 1 ] && says "$dir/by_force" ': (killed|revoked)' && says "$dir/by_force" 'complete, forced$'
}

state() { field "$1" .service.state; }
pid_of() { field "$1" .service.pid; }
has_state() { [ "$(state "$1")" = "$2" ]; } # NODE STATE

is_up_anew() { # NODE OLD-PID; between the end of a process and the next state there is none
	local pid
	pid=$(pid_of "$1")
	[[ $pid == [1-9]* ]] && [ "$pid" != "$2" ] && has_state "$1" up
}
has_restarts() { [ "$(field "$1" .service.restarts)" -gt "$2" ]; }  # NODE NUMBER: more than these

# The section of a service that does nothing.
service() { # NODE [LINE...]
	printf '[%s]\ncommand = %s/idle\n' "$1" "$helpers"
	shift
	[ $# = 0 ] || printf '%s\n' "$@"
}

# The number of leases on a node and below it; the kinds of the guards on a node itself, as "action lease".
leases() { ctl guards "$@" --json | jq '[.guards[] | select(.kind == "lease")] | length'; } # [NODE]
has_leases() { [ "$(leases "$1")" = "$2" ]; } # NODE NUMBER
kinds_of_guards() { # NODE
	ctl guards --json | jq -r --arg node "$1" \
		'[.guards[] | select(.node == $node) | .kind] | sort | join(" ")'
}
has_kinds_of_guards() { [ "$(kinds_of_guards "$1")" = "$2" ]; } # NODE KINDS

# The number of the first line of the log that matches, or 0.
line_of() { # REGEX
	local n
	n=$(grep -En -m 1 -- "$1" "$log")
	echo "${n%%:*}" | grep . || echo 0
}

in_order() { # REGEX...: each has a line in the log, and their first ones are in this order
	local regex n last=0
	for regex; do
		n=$(line_of "$regex")
		[ "$n" -gt "$last" ] || { echo "line $n, after line $last: $regex"; return 1; }
		last=$n
	done
}

# Processes beside this test: pid, parent, state, command.  Only in a world of its own.
others() {
	local list
	list=$(ps -e -o pid=,ppid=,stat=,args=)
	awk -v me=$$ '
		{ args = $0; sub(/^ *[0-9]+ +[0-9]+ +[^ ]+ +/, "", args) }
		NR == FNR { if ($1 == me) mine = args; next }
		args != mine && args !~ /^ps -e -o/' <(echo "$list") - <<<"$list"
}
nobody_else() { [ -z "$(others)" ]; }

# A folder with a file system that never answers, over what is in there, or one of that user, which answers look-ups;
# $mounting is its process.
mount_hanging() { # FOLDER [UID]
	mkdir -p "$1"
	[ ! -e /dev/fuse ] || [ -w /dev/fuse ] || skip_all "machine: needs root, for /dev/fuse"
	python3 "$top_srcdir/tests/helpers/hanging-mount.py" "$@" 2>"$dir/why" &
	mounting=$!
	cleanup_fn end_process "$mounting"
	is_mounted() { grep -q " $1 " /proc/self/mountinfo || gone "$mounting"; }
	wait_for 10 is_mounted "$1" || die "the file system is mounted"
	! gone "$mounting" || skip_all "machine: refuses a FUSE mount: $(tail -n 1 "$dir/why")"
}

# Each process that executes the file waits: $leasing ends that, $dir/leased has a line "waits" for each.
lease_file() { # FILE
	"$helpers/leaser" "$1" >"$dir/leased" &
	leasing=$!
	cleanup_fn end_process "$leasing"
	wait_for 10 says "$dir/leased" leased || die "there is a lease"
}

# --- Control groups ------------------------------------------------------------------------------

# From the daemon that is started next.
hide_cgroups() {
	[ ! -d /sys/fs/cgroup ] || mount -t tmpfs tmpfs /sys/fs/cgroup ||
		skip_all "machine: cannot hide the control groups"
}

group_of() { sed -n 's/^0:://p' "/proc/$1/cgroup"; } # PID

# A process that has got rid of its parent, its session and its environment: $dir/escape COMMAND...
make_escape() {
	cat >"$dir/escape" <<-'END'
		#!/bin/sh
		(setsid env -i PATH="$PATH" "$@" </dev/null >/dev/null 2>&1 &)
	END
	chmod 755 "$dir/escape"
}
