#!/bin/bash
# The end in front of one command: its exit status, its remaining processes, and the parent manager.
. "${0%/*}/lib.sh"
. "${0%/*}/inits.sh"
pid1=(unshare --pid --fork --mount-proc --kill-child)

stop_init() { # SECONDS: by SIGTERM; how it has ended is in $status then
	local target=$daemon
	[ "$place" = child ] || target=$(inner)
	kill -TERM "$target"
	await_daemon "$1"
}

for subject in "${subjects[@]}"; do
	choose "$subject"
	is "$subject: 0" "$(status_of "${init[@]}" true)" 0
	is "$subject: 7" "$(status_of "${init[@]}" sh -c 'exit 7')" 7
	is "$subject: a signal is 128 and its number" \
		"$(status_of "${init[@]}" "$helpers/crasher" -s 9)" 137
	is "$subject: the status of a missing command is 127" "$(status_of "${init[@]}" "$dir/missing")" 127
	: >"$dir/plain"
	is "$subject: the status of a file that is no program is 126" "$(status_of "${init[@]}" "$dir/plain")" 126
	choose "$subject" -e 143 --success-status 3
	is "$subject: a status that counts as success" "$(status_of "${init[@]}" sh -c 'exit 3')" 0
	is "$subject: a signal that does" "$(status_of "${init[@]}" "$helpers/crasher" -s 15)" 0
	is "$subject: another does not" "$(status_of "${init[@]}" sh -c 'exit 4')" 4
	choose "$subject"
	is "$subject: an end at once" \
		"$(for ((i = 0; i < 50; i++)); do status_of "${init[@]}" "$helpers/crasher" -s 9; done | uniq)" \
		137

	choose "$subject" --single-child
	for place in group session; do
		at=$dir/$subject.$place.spared apart=
		[ $place = group ] || apart=setsid
		# shellcheck disable=SC2016  # for the inner shell
		is "$subject: with --single-child a remaining process of the $place is kept" \
			"$(status_of "${init[@]}" sh -c '$3 "$1" "$2" & until test -s "$2"; do :; done; exit 6' \
				main "$helpers/signal-log" "$at" $apart)" 6
		ok "$subject: it lives" pkill -KILL -f "signal-log $at"
		is "$subject: and has had no signal" "$(cat "$at")" ready
	done
	# shellcheck disable=SC2016  # likewise
	is "$subject: but not as process 1" "$(status_of "${pid1[@]}" "${init[@]}" sh -c '
		"$1" "$2" & until test -s "$2"; do :; done; exit 6' \
		main "$helpers/signal-log" "$dir/$subject.ended") $(paste -sd' ' "$dir/$subject.ended")" "6 ready TERM"
	choose "$subject" -w
	# It outlives its parent, which could collect it.
	# shellcheck disable=SC2016  # likewise
	"${init[@]}" sh -c '(sh -c "until test -e $1.go; do :; done" & echo $! >"$1"); : >"$1.go"
			while kill -0 "$(cat "$1")" 2>/dev/null; do :; done' \
		main "$dir/$subject.orphan" >"$dir/$subject.w" 2>&1 </dev/null
	like "$subject: -w warns of an orphan" "$(cat "$dir/$subject.w")" \
		'^swansong(d|-init): Reaped zombie process with pid=[0-9]+$'

	for place in child pid1; do
		enter=()
		[ $place = child ] || enter=("${pid1[@]}")

		choose "$subject"
		# shellcheck disable=SC2016  # for the inner shell
		is "$subject, $place: remaining processes get the stop signal, and are waited for" \
			"$(status_of "${enter[@]}" "${init[@]}" sh -c '
				"$1" "$2.group" & setsid "$1" "$2.session" &
				until grep -q ready "$2.group" && grep -q ready "$2.session"; do :; done 2>/dev/null
				exit 4' main "$helpers/signal-log" "$dir/$subject.$place")" 4
		for leftover in group session; do
			is "$subject, $place: a process of the $leftover gets it once" \
				"$(grep -c TERM "$dir/$subject.$place.$leftover")" 1
		done

		choose "$subject" --leftover-timeout 300ms
		rm -f "$dir/stubborn"*
		began=$(now)
		# shellcheck disable=SC2016  # for the inner shell
		is "$subject, $place: a process that does not end is killed" \
			"$(status_of "${enter[@]}" "${init[@]}" sh -c '
				"$1" "$2" & setsid "$1" "$2.session" &
				until [ -s "$2" ] && [ -s "$2.session" ]; do :; done
				exit 5' main "$helpers/stubborn" "$dir/stubborn")" 5
		within "$subject, $place: after its time" $(($(now) - began)) 300 20000
		[ $place = pid1 ] ||
			ok "$subject, $place: no process is left" \
				gone "$(cat "$dir/stubborn")" "$(cat "$dir/stubborn.session")"
		ok "$subject, $place: a killed process is named" \
			says "$log" 'killing .*pid [0-9]+ \(stubborn\)'

		choose "$subject"
		# shellcheck disable=SC2016  # for the inner shell
		launch "${enter[@]}" "${init[@]}" sh -c \
			'"$1" 2000 100; echo >"$2"; exec "$3"' main \
			"$helpers/orphans" "$dir/$subject.$place.born" "$helpers/idle"
		wait_for 20 test -e "$dir/$subject.$place.born" || die "$subject, $place: orphans are born"
		no_zombies() { [[ ! $(ps -e -o stat=) =~ Z ]]; }
		ok "$subject, $place: of 2000 orphans no zombie is left" wait_for 20 no_zombies
		stop_init 10
		is "$subject, $place: and it ends by the signal" "$status" 143

		# A process that its signal handler starts has missed the signal of the others.
		choose "$subject" --leftover-timeout 20s
		rm -f "$dir/late"*
		# shellcheck disable=SC2016  # for the inner shell
		launch "${enter[@]}" "${init[@]}" sh -c '
			trap "\"$1\" \"$2\" & setsid \"$1\" \"$2.session\" &
				until grep -q ready \"$2\" && grep -q ready \"$2.session\"; do :; done
				exit 6" TERM
			echo >"$2.up"; while :; do sleep 0.05; done' main "$helpers/signal-log" "$dir/late"
		wait_for 20 test -e "$dir/late.up" || die "$subject, $place: the command runs"
		stop_init 15
		is "$subject, $place: a process that a handler of the stop signal starts gets it, too" \
			"$status $(sort "$dir/late" "$dir/late.session" | paste -sd' ')" "6 TERM TERM ready ready"

		rm -f "$dir/stubborn"
		choose "$subject" --leftover-timeout 300ms
		# shellcheck disable=SC2016  # for the inner shell
		launch "${enter[@]}" "${init[@]}" sh -c '
			trap "exit 6" TERM; "$1" "$2" & while :; do sleep 0.05; done' \
			main "$helpers/stubborn" "$dir/stubborn"
		wait_for 20 test -s "$dir/stubborn" || die "$subject, $place: the command runs"
		stop_init 20
		is "$subject, $place: after kills the exit status is still that of the command" \
			"$status" 6

		# The stop itself makes thousands, of which some live on and some are dead at once.
		choose "$subject"
		rm -f "$dir/ready"
		# shellcheck disable=SC2016  # for the inner shell
		launch "${enter[@]}" "${init[@]}" sh -c '
			trap "\"$1\" 3000; \"$1\" 1000 600000; exit 4" TERM
			echo >"$2"; while :; do sleep 0.05; done' main "$helpers/orphans" "$dir/ready"
		wait_for 20 test -e "$dir/ready" || die "$subject, $place: the command runs"
		stop_init 60
		is "$subject, $place: thousands of orphans during the stop do not change its end" "$status" 4
		ok "$subject, $place: and none is left" wait_for 10 not pgrep -x orphans
	done

	# A child from before the execve(2) of the init is not ended with the command.
	choose "$subject"
	# shellcheck disable=SC2016  # for the inner shell
	is "$subject: a child of before is kept" \
		"$(status_of sh -c '"$0" & echo $! >"$1"; shift; exec "$@"' "$helpers/idle" "$dir/before" \
			"${init[@]}" sh -c 'exit 6')" 6
	ok "$subject: and lives" kill -0 "$(cat "$dir/before")"
	end_process "$(cat "$dir/before")"

	# The end of the parent, and of the init.
	choose "$subject" -p TERM
	rm -f "$dir/signals"
	# shellcheck disable=SC2016  # for the inner shell
	bash -c '"$@" & echo $! >"$0.pid"; wait' "$dir/init" "${init[@]}" \
		"$helpers/signal-log" "$dir/signals" >>"$log" 2>&1 &
	daemon=$!
	wait_for 10 says "$dir/signals" ready || die "$subject: the command runs"
	kill -KILL "$daemon"
	ok "$subject: the parent's end is a signal" wait_for 10 says "$dir/signals" TERM
	ok "$subject: and ends us" wait_for 10 gone "$(cat "$dir/init.pid")"
	choose "$subject" -p KILL
	launch "${init[@]}" "$helpers/idle"
	wait_for 10 pgrep -P "$daemon" >/dev/null || die "$subject: the command runs"
	child=$(pgrep -P "$daemon")
	kill -KILL "$daemon"
	ok "$subject: killed, it leaves no command" wait_for 10 is_zombie_or_gone "$child"

	# Wrong options.
	choose "$subject"
	usage=125
	[ "$subject" != daemon ] || usage=2
	for bad in "-r TERM" "-r NO:TERM" "-r TERM:NO" "-r KILL:TERM" "-e 256" "-e x" "-p NO" \
		"--signal-scope x" "--leftover-timeout 5" "--nonsense" "--rewirte TERM:INT"; do
		# shellcheck disable=SC2086  # words
		choose "$subject" $bad
		is "$subject: $bad is refused" "$(status_of "${init[@]}" touch "$dir/touched")" $usage
	done
	ok "$subject: an unknown option is named with the nearest one" \
		says "$log" "unknown option '--rewirte': did you mean '--rewrite'"
	ok "$subject: without the whole usage" not says "$log" "usage:"
	ok "$subject: and nothing is run then" not test -e "$dir/touched"
	ok "$subject: the wrong value is reported" says "$log" "--rewrite: invalid value 'NO:TERM': expected FROM:TO, for example TERM:QUIT"
done
is "no command" "$(status_of "$(program swansong-init)" --)" 125
ok "$subject: the usage is printed" says "$log" '^usage: swansong-init'
finish
