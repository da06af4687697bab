#!/bin/bash
# A small init is replaced by replacing its name: the same command line has the same effects with each of the
# installed ones, and with swansong-init.  Their differences are in contrib/container/MOVING.md.
. "${0%/*}/lib.sh"
. "${0%/*}/inits.sh"

any=
for peer in tini dumb-init catatonit; do
	! command -v "$peer" >/dev/null || any=yes
done
[ "$any" ] || skip_all "package tini, dumb-init or catatonit"
: >"$dir/plain"

# Both run the same command line; the test compares their effects and expects none in particular.  The
# name of the command differs.
both() { # NAME FUNCTION...
	local name=$1 theirs ours
	shift
	front=("$(command -v "$peer")")
	theirs=$("$@" 2>>"$log")
	front=("$(program swansong-init)")
	ours=$("$@" 2>>"$log")
	is "$peer: $name" "$ours" "$theirs"
}

# Messages of tini go to its standard output, those of swansong-init to the standard error.
ends() { all_ends "$@" | grep -v '^\[[A-Z ]* tini '; } # OPTION...: the exit status of several commands
all_ends() {
	local status
	for command in true "sh -c 'exit 7'" "'$helpers/crasher' -s 9" "'$helpers/crasher' -s 15" \
		"sh -c 'exit 143'" "sh -c 'echo out; exit 3'"; do
		eval '"${front[@]}" "$@"' "$command" </dev/null
		status=$?
		echo "$command: $status"
	done
}

cannot() { # OPTION...: the exit status when there is nothing to execute
	for command in "$dir/missing" "$dir/plain" "$dir"; do
		"${front[@]}" "$@" "$command" </dev/null
		echo "$command: $?"
	done
}

has_taken() { # PID...: all signals that were sent to them so far
	local pid
	for pid; do
		! grep -qE '^(Sig|Shd)Pnd:[[:space:]]*0*[1-9a-f]' "/proc/$pid/status" || return 1
	done
}
counts() { [ "$(grep -c "$2" "$1")" = "$3" ]; } # FILE PATTERN NUMBER

# Signals that arrive at the command, and at a process in its group.  Both take a SIGTERM before signals of
# higher numbers, so it is sent after they have taken all; and the init has passed a signal on when it takes
# the next one.
signals() { # OPTION...
	local into=$dir/arrived name main
	rm -f "$into".*
	# shellcheck disable=SC2016  # for the inner shell
	launch "${front[@]}" "$@" sh -c '"$0" "$1.group" & exec "$0" "$1.main" 5' \
		"$helpers/signal-log" "$into"
	wait_for 10 says "$into.main" ready && wait_for 10 says "$into.group" ready || echo "does not run"
	for name in HUP INT QUIT USR1 ALRM CONT WINCH; do
		kill -s $name "$daemon"
	done
	kill -s USR2 "$daemon"
	wait_for 10 says "$into.main" '^USR2$' && wait_for 10 has_taken "$daemon" || echo "no USR2"
	kill -s USR2 "$daemon"
	wait_for 10 counts "$into.main" '^USR2$' 2 || echo "no other USR2"
	main=$(pgrep -P "$daemon")
	wait_for 10 has_taken "$main" "$(pgrep -P "$main")" || echo "not all is taken"
	kill -s TERM "$daemon"
	await_daemon 10
	# Two of a kind may come as one.
	echo "$status: $(sort -u "$into.main" | paste -sd' ')"
	# SIGTERM may come from the end of the others, and not from the init.
	echo "group: $(sort -u "$into.group" | grep -v TERM | paste -sd' ')"
	pkill -KILL -x signal-log
}

says_version() { "${front[@]}" "$@" >/dev/null 2>&1; echo $?; }
has() { command -v "$1" >/dev/null; } # PEER
lacks() { skip "$1" "package $1"; }

peer=tini
if has tini; then
	for options in "--" "-s --" "-g --" "-sg --" "-e 143 --" "-e 3 -e 7 --" "-s -e 137 -v --" "-w --" \
		"-vvv --" "-p SIGTERM --" "-s -p SIGKILL --"; do
		# shellcheck disable=SC2086  # words
		both "$options" ends $options
	done
	both "what cannot be executed" cannot -s --
	both "signals, with -g" signals -sg --
	front=(tini) && theirs=$(signals -s -- 2>>"$log")
	front=("$(program swansong-init)")
	is "tini: without -g the same processes get signals as with --single-child" "$(signals --single-child -- 2>>"$log")" "$theirs"
	export TINI_SUBREAPER='' TINI_KILL_PROCESS_GROUP=1 TINI_VERBOSITY=0
	both "the environment" signals --
	unset TINI_SUBREAPER TINI_KILL_PROCESS_GROUP TINI_VERBOSITY
	both "--version" says_version --version
	both "-h" says_version -h
else
	lacks tini
fi

peer=dumb-init
if has dumb-init; then
	for options in "" "--" "-c" "--single-child --" "-v" "-r 15:2" "--rewrite 1:0 --"; do
		# shellcheck disable=SC2086  # words
		both "${options:-no option}" ends $options
	done
	for options in "" "-c" "--single-child" "-r 1:10" "--rewrite 2:14 --rewrite=3:1" "-r 1:0 -r 14:0" \
		"-c -r 10:1 -r 1:10"; do
		# shellcheck disable=SC2086  # words
		both "signals: ${options:-no option}" signals $options
	done
	for DUMB_INIT_SETSID in 0 1 no; do
		export DUMB_INIT_SETSID
		both "signals: DUMB_INIT_SETSID=$DUMB_INIT_SETSID" signals
	done
	unset DUMB_INIT_SETSID
	both "--version" says_version --version
	both "-V" says_version -V
	both "--help" says_version --help
else
	lacks dumb-init
fi

peer=catatonit
if has catatonit; then
	for options in "--" "-g --"; do
		# shellcheck disable=SC2086  # words
		both "$options" ends $options
	done
	both "signals, with -g" signals -g --
	paused() {
		launch "${front[@]}" -P
		# SIGTERM and SIGHUP: the shell blocks the former for a moment before it executes the program.
		wait_for 10 grep -q '^SigBlk:.*[4567cdef]..[13579bdf]$' "/proc/$daemon/status"
		kill -s "$1" "$daemon"
		await_daemon 10
		echo "$status"
	}
	both "-P, ended by SIGTERM" paused TERM
	both "-P, ended by SIGINT" paused INT
	both "--version" says_version --version
	both "-h" says_version -h
else
	lacks catatonit
fi
finish
