#!/bin/bash
# In front of one command: its exit status, its signals, its orphans.
. "${0%/*}/lib.sh"

# Runs a command under swansongd; its exit status is the answer.
status_of() { # COMMAND...
	"$swansongd" -- "$@" >>"$log" 2>&1 </dev/null
	echo $?
}

is "0 is passed on" "$(status_of true)" 0
is "7 is passed on" "$(status_of sh -c 'exit 7')" 7
is "a signal is 128 and its number" "$(status_of "$helpers/crasher" -s 9)" 137
is "a crash is, too" "$(status_of "$helpers/crasher" -s 11)" 139
is "the status of a missing command is 127" "$(status_of "$dir/missing")" 127
touch "$dir/plain"
is "the status of a file that is no program is 126" "$(status_of "$dir/plain")" 126
# shellcheck disable=SC2016  # for the inner shell
is "arguments arrive as they are" \
	"$("$swansongd" -- sh -c 'for a; do echo "<$a>"; done' x 'a b' '' '%n' '"' 2>>"$log")" \
	$'<a b>\n<>\n<%n>\n<">'
is "output is not touched" "$(echo in | "$swansongd" -- cat 2>>"$log")" in

# Wrong command lines.
refused() { # NAME REASON ARGUMENT...
	local name=$1 reason=$2
	shift 2
	is "$name is refused" "$(cd "$dir" && "$swansongd" "$@" >"$log" 2>&1 </dev/null; echo $?)" 2
	ok "the log gives the reason" says "$log" "$reason"
}
refused "no command" 'no command after --' --
refused "no command after an option" 'no command after --' -e 3 --
refused "another init's -s" '-s wants a path' -s -- touch "$dir/touched"
refused "another init's -s, with others" '-s wants a path' -svv touch "$dir/touched"
refused "a configuration beside it" 'not both' -c "$ini" -- touch "$dir/touched"
ok "and nothing is run then" not test -e "$dir/touched"
: >"$log"

# As a child process, and as PID 1.
for place in child pid1; do
	signals=$dir/signals.$place
	enter=()
	target() { echo "$daemon"; }
	if [ $place = pid1 ]; then
		enter=(unshare --pid --fork --mount-proc --kill-child)
		target() { pgrep -P "$daemon"; }
	fi

	launch "${enter[@]}" "$swansongd" -- "$helpers/signal-log" "$signals" 5
	wait_for 10 says "$signals" ready || die "$place: the command runs"
	for signal in HUP USR1 USR2 WINCH; do
		kill -s "$signal" "$(target)"
		ok "$place: SIG$signal is forwarded" wait_for 5 says "$signals" "^$signal\$"
	done
	kill -TERM "$(target)"
	await_daemon 10
	ok "$place: SIGTERM is forwarded" says "$signals" '^TERM$'
	is "$place: each came once" "$(sort "$signals" | uniq -d)" ""
	is "$place: the answer to SIGTERM is passed on" "$status" 5

	launch "${enter[@]}" "$swansongd" -- "$helpers/signal-log" "$signals.term"
	wait_for 10 says "$signals.term" ready || die "$place: the command runs"
	kill -INT "$(target)"
	ok "$place: SIGINT arrives" wait_for 5 says "$signals.term" '^(INT|TERM)$'
	kill -TERM "$(target)"
	await_daemon 10
	is "$place: an end by SIGTERM is 143" "$status" 143

	launch "${enter[@]}" "$swansongd" -- \
		sh -c "'$helpers/orphans' 100; echo >'$dir/$place.born'; exec '$helpers/idle'"
	wait_for 10 test -e "$dir/$place.born" || die "$place: orphans are born"
	no_zombies() { [[ ! $(ps -e -o stat=) =~ Z ]]; }
	ok "$place: orphans are reaped" wait_for 5 no_zombies
	kill -TERM "$(target)"
	await_daemon 10
	is "$place: and it ends by the signal" "$status" 143

	launch "${enter[@]}" "$swansongd" -- \
		sh -c "setsid '$helpers/idle' & '$helpers/idle' & exit 3"
	await_daemon 15
	is "$place: remaining processes do not change the exit status" "$status" 3
	ok "$place: nothing is left" wait_for 10 nobody_else
done

# The command's parent manager is swansongd, and its messages are passed on.
mkfifo "$dir/go"
runs() { pgrep -P "$daemon" notifier >/dev/null; }
under() { # OPTION...: $dir/sent has the messages to the parent manager
	rm -f "$dir/sent" "$dir/above"
	python3 "$top_srcdir/tests/helpers/notify-log.py" "$dir/above" "$dir/sent" &
	cleanup_fn end_process $!
	wait_for 10 test -e "$dir/sent" || die "the socket of the parent manager is there"
	NOTIFY_SOCKET=$dir/above launch "$swansongd" "$@" -- "$helpers/notifier" "$dir/go"
	wait_for 10 runs || die "the command runs"
}
if command -v python3 >/dev/null; then
	# shellcheck disable=SC2016  # for the inner shell
	is "without a parent manager there is no socket" "$("$swansongd" -- sh -c 'echo ${NOTIFY_SOCKET-none}' 2>>"$log")" none
	# shellcheck disable=SC2016  # for the inner shell
	like "but the command has one with --notify-ready" \
		"$("$swansongd" --notify-ready -- sh -c 'echo $NOTIFY_SOCKET' 2>>"$log")" '^/.*/swansong/notify\.0/'
	under
	ok "by default the command is ready when it has been started" wait_for 10 says "$dir/sent" READY=1
	kill -TERM "$daemon"
	await_daemon 10
	under --notify-ready
	ok "with --notify-ready it is not" not says "$dir/sent" READY=1
	echo READY=1 >"$dir/go"
	ok "until the command reports it" wait_for 10 says "$dir/sent" READY=1
	kill -TERM "$daemon"
	await_daemon 10
else
	skip "a command that notifies" "package python3"
fi
# A stop over the control socket: which processes its signal reaches.
# shellcheck disable=SC2016  # for the inner shell
family='"$1" "$2.near" & setsid "$1" "$2.away" & exec "$1" "$2.main" 0 "$2.fifo"'
for scope in group main all; do
	of=$dir/of-$scope
	mkfifo "$of.fifo"
	launch "$swansongd" --signal-scope "$scope" -s "$socket" -- \
		sh -c "$family" family "$helpers/signal-log" "$of"
	for who in near away main; do
		wait_for 10 says "$of.$who" ready || die "$scope: $who runs"
	done
	wait_for 10 ctl_answers || die "$scope: the daemon answers"
	ctl shutdown --no-wait >/dev/null
	ok "$scope: the command gets the signal of a stop" wait_for 10 says "$of.main" TERM
	[ "$scope" = main ] || wait_for 10 says "$of.near" TERM
	if [ "$scope" = all ] && ! is_root; then
		skip "all: so do the other processes of the scope" "machine: needs root, for control groups"
	else
		[ "$scope" != all ] || wait_for 10 says "$of.away" TERM
		is "$scope: so do the other processes of the scope" "$(cd "$dir" && grep -l TERM of-"$scope".{near,away} | paste -sd' ')" \
			"$(case $scope in
			main) ;;
			group) echo "of-group.near" ;;
			all) echo "of-all.near of-all.away" ;;
			esac)"
	fi
	echo >"$of.fifo"
	await_daemon 20
	is "$scope: it ends" "$status" 0
	for who in near away; do
		ok "$scope: in the end $who had it" says "$of.$who" TERM
	done
done

"$swansongd" --notify-ready -c /dev/null 2>>"$log"
is "it is an option for a command" "$?" 2
finish
