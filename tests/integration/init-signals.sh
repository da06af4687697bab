#!/bin/bash
# Signals in front of one command: they are passed on, in the right form, to the right processes, and none is
# lost.
. "${0%/*}/lib.sh"
. "${0%/*}/inits.sh"
signals=$dir/signals

begin() { # COMMAND...: in the background; its pid is $daemon
	rm -f "$signals"*
	launch "${init[@]}" "$@"
}
all_say() { # REGEX FILE...
	local regex=$1 file
	shift
	for file; do says "$file" "$regex" || return 1; done
}
# The program has replaced the shell, and has all signals blocked.
holds_signals() { # PID
	[[ $(readlink "/proc/$1/exe") != */bash ]] && grep -q '^SigBlk:.*ffffff' "/proc/$1/status"
}
has_lines() { [ "$(grep -c "$1" "$2")" = "$3" ]; } # REGEX FILE N

has_state_of() { [[ $(ps -o stat= -p "$1") == $2* ]]; } # PID STATE
fifo=$dir/fifo
mkfifo "$fifo"

for subject in "${subjects[@]}"; do
	choose "$subject"
	begin "$helpers/signal-log" "$signals" 5
	wait_for 10 says "$signals" ready || die "$subject: the command runs"
	for signal in HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM STKFLT CONT URG \
		XCPU XFSZ VTALRM PROF WINCH PWR SYS; do
		[ "$subject $signal" != "daemon INT" ] || continue
		kill -s "$signal" "$daemon"
		wait_for 5 says "$signals" "^$signal\$" || break
	done
	ok "$subject: all that can be caught is passed on" says "$signals" '^SYS$'
	kill -s 40 "$daemon"
	ok "$subject: real-time signals are, too" wait_for 5 says "$signals" '^\(null\)$'
	is "$subject: each came once" "$(sort "$signals" | uniq -d)" ""
	kill -TERM "$daemon"
	await_daemon 10
	is "$subject: the answer to SIGTERM is the exit status" "$status" 5

	choose "$subject" --rewrite HUP:USR1 -r 12:0 -r USR1:USR2 -r RTMIN+3:TERM
	begin "$helpers/signal-log" "$signals" 6
	wait_for 10 says "$signals" ready || die "$subject: the command runs"
	kill -USR2 "$daemon"
	kill -HUP "$daemon"
	wait_for 5 says "$signals" '^USR1$'
	kill -USR1 "$daemon"
	wait_for 5 says "$signals" '^USR2$'
	kill -s 37 "$daemon"
	await_daemon 10
	is "$subject: signals are rewritten, once, and to nothing" "$(paste -sd' ' "$signals")" \
		"ready USR1 USR2 TERM"
	is "$subject: and the rewritten one ends it" "$status" 6

	# A signal is as good as one to the command: not even one of before its birth is lost.
	choose "$subject"
	for signal in TERM USR1; do
		(
			trap '' USR2 # its own disposition, to be passed on below
			exec "${init[@]}" sleep 30
		) >>"$log" 2>&1 </dev/null &
		daemon=$!
		cleanup_fn end_process "$daemon"
		wait_for 5 holds_signals "$daemon"
		kill -s "$signal" "$daemon"
		await_daemon 10
		is "$subject: an early SIG$signal is not lost" "$status" $((128 + $(kill -l "$signal")))
	done

	# The processes that a signal reaches.
	# shellcheck disable=SC2016  # for the inner shell
	family='"$1" "$2.group" & setsid "$1" "$2.session" & exec "$1" "$2.main"'
	for scope in group main all; do
		choose "$subject" --signal-scope $scope --leftover-timeout 100ms
		begin sh -c "$family" family "$helpers/signal-log" "$signals"
		wait_for 10 all_say ready "$signals".{group,session,main} || die "$subject: a family runs"
		kill -USR1 "$daemon"
		wait_for 5 says "$signals.main" USR1
		[ $scope = main ] || wait_for 5 says "$signals.group" USR1
		[ $scope != all ] || wait_for 5 says "$signals.session" USR1
		is "$subject: the scope $scope" \
			"$(cd "$dir" && grep -l USR1 signals.* | paste -sd' ')" \
			"$(case $scope in
			main) echo signals.main ;;
			group) echo signals.group signals.main ;;
			all) echo signals.group signals.main signals.session ;;
			esac)"
		kill -TERM "$daemon"
		await_daemon 10
	done
	for option in -g --single-child; do
		choose "$subject" --signal-scope all $option
		begin sh -c "$family" family "$helpers/signal-log" "$signals"
		wait_for 10 all_say ready "$signals".{group,session,main} || die "$subject: a family runs"
		kill -USR1 "$daemon"
		wait_for 5 says "$signals.main" USR1
		[ $option != -g ] || wait_for 5 says "$signals.group" USR1
		[ $option = -g ] && reached=1 || reached=0
		is "$subject: $option" "$(cat "$signals.group" "$signals.session" | grep -c USR1)" "$reached"
		kill -TERM "$daemon"
		await_daemon 10
	done

	# As dumb-init has it; an option goes before it.
	for setting in 0 1 "0 -g"; do
		# shellcheck disable=SC2086  # words
		choose "$subject" ${setting#[01]}
		export DUMB_INIT_SETSID=${setting%% *}
		begin sh -c "$family" family "$helpers/signal-log" "$signals"
		unset DUMB_INIT_SETSID
		wait_for 10 all_say ready "$signals".{group,session,main} || die "$subject: a family runs"
		kill -USR1 "$daemon"
		wait_for 5 says "$signals.main" USR1
		[ "$setting" = 0 ] && reached=0 || reached=1
		[ "$setting" = 0 ] || wait_for 5 says "$signals.group" USR1
		is "$subject: DUMB_INIT_SETSID=$setting" "$(grep -c USR1 "$signals.group")" "$reached"
		kill -TERM "$daemon"
		await_daemon 10
	done

	# A thousand signals in no time: the command may get fewer of one kind, but the last of each.
	choose "$subject"
	begin "$helpers/signal-log" "$signals" 7
	wait_for 10 says "$signals" ready || die "$subject: the command runs"
	for ((n = 0; n < 500; n++)); do
		kill -USR1 "$daemon"
		kill -s 50 "$daemon"
	done
	ok "$subject: of 500 real-time signals each arrives" \
		wait_for 20 has_lines '^(null)$' "$signals" 500
	kill -USR2 "$daemon"
	ok "$subject: and it is still there" wait_for 5 says "$signals" USR2
	kill -TERM "$daemon"
	await_daemon 10
	is "$subject: to the end" "$status" 7

	# A command that handles it would run on.
	choose "$subject"
	# shellcheck disable=SC2016  # for the inner shell
	begin bash -c 'trap "echo TSTP >>$0" TSTP; echo ready >>"$0"; while :; do read -rt 0.1 <>"$1"; done' \
		"$signals" "$fifo"
	wait_for 10 says "$signals" ready || die "$subject: the command runs"
	child=$(pgrep -P "$daemon")
	kill -TSTP "$daemon"
	ok "$subject: SIGTSTP suspends a command that handles it" wait_for 5 has_state_of "$child" T
	ok "$subject: and us" wait_for 5 has_state_of "$daemon" T
	kill -CONT "$daemon"
	ok "$subject: it never saw it" not says "$signals" TSTP
	kill -KILL "$child"
	await_daemon 10

	choose "$subject" --rewrite TSTP:USR1
	begin "$helpers/signal-log" "$signals" 0
	wait_for 10 says "$signals" ready || die "$subject: the command runs"
	kill -TSTP "$daemon"
	ok "$subject: a rewritten signal arrives" wait_for 5 says "$signals" USR1
	ok "$subject: and suspends us all the same" wait_for 5 has_state_of "$daemon" T
	kill -CONT "$daemon"
	kill -TERM "$daemon"
	await_daemon 10

	# Suspended and resumed, with the command.
	choose "$subject"
	begin "$helpers/idle"
	wait_for 10 pgrep -P "$daemon" >/dev/null || die "$subject: the command runs"
	child=$(pgrep -P "$daemon")
	for signal in TSTP TTIN TTOU; do
		wait_for 5 has_state_of "$child" S
		kill -s $signal "$daemon"
		ok "$subject: SIG$signal suspends the command" wait_for 5 has_state_of "$child" T
		ok "$subject: and us" wait_for 5 has_state_of "$daemon" T
		kill -CONT "$daemon"
		ok "$subject: SIGCONT resumes it" wait_for 5 has_state_of "$child" S
		ok "$subject: and us" wait_for 5 has_state_of "$daemon" S
	done
	kill -STOP "$child"
	wait_for 5 has_state_of "$child" T
	ok "$subject: the init is not suspended with a command that others suspend" has_state_of "$daemon" S
	kill -TERM "$daemon"
	await_daemon 10
	is "$subject: a suspended command can be ended" "$status" 143
done
finish
