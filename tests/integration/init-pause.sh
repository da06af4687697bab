#!/bin/bash
# An init without a command, and its levels of messages.
. "${0%/*}/lib.sh"
. "${0%/*}/inits.sh"

# It waits for a signal, and before that for nothing.
sleeps() { says "/proc/$1/comm" '^swansong-init' && says "/proc/$1/status" '^State:.S'; } # PID

for subject in "${subjects[@]}"; do
	[ "$subject" != daemon ] || continue
	choose "$subject" -P -v --leftover-timeout 2s
	init=("${init[@]:0:${#init[@]}-1}")

	: >"$log"
	launch "${init[@]}"
	wait_for 10 sleeps "$daemon" || die "$subject: it takes signals"
	kill -USR1 "$daemon"
	kill -HUP "$daemon"
	kill -TERM "$daemon"
	await_daemon 20
	is "$subject: without a command it ends when it is asked to" "$status" 0

	# As PID 1, with orphans that are collected, and one that is ended in the end.
	launch unshare --pid --fork --kill-child --mount-proc "${init[@]}"
	wait_for 10 inner >/dev/null || die "$subject: it is there"
	pause=$(inner)
	wait_for 10 sleeps "$pause" || die "$subject: it takes signals"
	nsenter -t "$pause" -p -m "$helpers/orphans" 20
	no_zombies() { ! pgrep -P "$pause" -r Z >/dev/null; }
	ok "$subject: orphans are collected" wait_for 10 no_zombies
	nsenter -t "$pause" -p -m setsid --fork "$helpers/stubborn" "$dir/stubborn" >/dev/null 2>&1
	wait_for 10 test -s "$dir/stubborn" || die "$subject: a process remains"
	kill -INT "$pause"
	await_daemon 20
	is "$subject: and ends the remaining process" "$status" 0
	ok "$subject: by name" says "$log" 'killing .*pid [0-9]+ \(stubborn\)'
	rm -f "$dir/stubborn"

	is "$subject: no command, and one, are too much" "$(status_of "${init[@]}" true)" 125
	choose "$subject"
	is "$subject: neither is too little" "$(status_of "${init[@]}")" 125

	said() { # VALUE [OPTION...]: the number of messages about a command that ends
		TINI_VERBOSITY=$1 "${init[0]}" "${@:2}" -- true 2>&1 </dev/null | wc -l
	}
	is "$subject: a verbosity of 0" "$(said 0)" 0
	is "$subject: and of 1" "$(said 1)" 0
	is "$subject: 2 is as -v" "$(said 2)" "$("${init[0]}" -v -- true 2>&1 </dev/null | wc -l)"
	ok "$subject: which is more" test "$(said 2)" -gt 0
	is "$subject: -v counts from there" "$(said 1 -v)" "$(said 2)"
	like "$subject: an invalid level is reported" "$(TINI_VERBOSITY=loud "${init[0]}" -- true 2>&1)" \
		"TINI_VERBOSITY ignored: invalid value 'loud': expected a number"
	is "$subject: DUMB_INIT_DEBUG=1 is as -vv" \
		"$(DUMB_INIT_DEBUG=1 "${init[0]}" -- true 2>&1 </dev/null | sed 's/[0-9]*//g')" \
		"$("${init[0]}" -vv -- true 2>&1 </dev/null | sed 's/[0-9]*//g')"
	is "$subject: and another value is nothing" \
		"$(DUMB_INIT_DEBUG=0 "${init[0]}" -- true 2>&1 </dev/null)" ""
	# shellcheck disable=SC2016  # for the other shell
	is "$subject: the command sees them, as with tini" \
		"$(TINI_VERBOSITY=0 TINI_SUBREAPER=1 "${init[0]}" -- sh -c 'echo "$TINI_VERBOSITY$TINI_SUBREAPER"')" 01
done
finish
