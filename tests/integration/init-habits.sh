#!/bin/bash
# In front of one command, habits of tini and dumb-init that users rely on: no SIGCONT that no process has
# sent, no directory that is held, and options in any spelling.
. "${0%/*}/lib.sh"
. "${0%/*}/inits.sh"

signals_of() { paste -sd' ' "$1"; } # FILE
# A signal that arrives before SIGUSR1 is in the file when SIGUSR1 is.
mark() { # PID FILE
	kill -USR1 "$1"
	wait_for 10 says "$2" USR1 || die "$subject: SIGUSR1 arrives"
}

for subject in "${subjects[@]}"; do
	choose "$subject" --leftover-timeout 30s
	of=$dir/$subject
	mkfifo "$of.go" "$of.end"

	# The command gets the signal and nothing else, and so do its remaining processes unless they are
	# suspended.
	# shellcheck disable=SC2016  # for the inner shell
	begin_family='"$0" "$1.group" 0 "$1.end" & setsid "$0" "$1.session" 0 "$1.end" & "$0" "$1.frozen" 0 "$1.end" & exec "$0" "$1.main" 0 "$1.go"'
	launch "${init[@]}" sh -c "$begin_family" "$helpers/signal-log" "$of"
	for who in main group session frozen; do
		wait_for 10 says "$of.$who" ready || die "$subject: $who runs"
	done
	pid() { pgrep -x signal-log -a | sed -n "s|^\([0-9]*\) .*$of\.$1 .*|\1|p"; } # NAME
	frozen=$(pid frozen)
	kill -TERM "$daemon"
	wait_for 10 says "$of.main" TERM
	mark "$(pid main)" "$of.main"
	is "$subject: SIGTERM is all that the command gets" "$(signals_of "$of.main")" "ready TERM USR1"
	for who in group frozen; do
		wait_for 10 says "$of.$who" TERM || die "$subject: $who has had SIGTERM"
	done
	kill -STOP "$frozen"
	wait_for 10 is_stopped "$frozen"
	echo >"$of.go"
	wait_for 10 says "$of.session" TERM || die "$subject: the remaining processes get SIGTERM"
	mark "$(pid session)" "$of.session"
	mark "$(pid group)" "$of.group"
	is "$subject: and nothing else reaches a remaining process of another session" "$(signals_of "$of.session")" \
		"ready TERM USR1"
	like "$subject: nor one of its group" "$(signals_of "$of.group")" '^ready TERM( TERM)? USR1$'
	ok "$subject: but a suspended process is resumed" wait_for 10 says "$of.frozen" CONT
	# A line for each reader.
	exec 8<>"$of.end"
	for _ in 1 2 3; do echo; done >&8
	await_daemon 20
	exec 8>&-
	is "$subject: the end is the command's" "$status" 0

	# A process that another one has resumed is no longer suspended.
	of=$dir/$subject.again
	mkfifo "$of.go"
	choose "$subject"
	launch "${init[@]}" "$helpers/signal-log" "$of.main" 3 "$of.go"
	wait_for 10 says "$of.main" ready || die "$subject: the command runs"
	kill -STOP "$(pid main)"
	wait_for 10 is_stopped "$(pid main)"
	kill -CONT "$(pid main)"
	wait_for 10 says "$of.main" CONT
	no_children_events() { ! grep -q '^ShdPnd:.*[1-9a-f]' "/proc/$daemon/status"; }
	wait_for 10 no_children_events
	kill -TERM "$daemon"
	wait_for 10 says "$of.main" TERM
	mark "$(pid main)" "$of.main"
	is "$subject: a command that others have resumed gets no SIGCONT" "$(signals_of "$of.main")" \
		"ready CONT TERM USR1"
	echo >"$of.go"
	await_daemon 10
	is "$subject: its end" "$status" 3

	# A directory that the command is to unmount.
	mkdir -p "$dir/place/deeper"
	cp "$helpers/idle" "$dir/place/program"
	# shellcheck disable=SC2016  # for the inner shell
	is "$subject: it is in the root directory before the command runs, and the command where it was" \
		"$(cd "$dir/place" && "${init[@]}" sh -c 'readlink /proc/$PPID/cwd; pwd' 2>>"$log")" \
		"/"$'\n'"$dir/place"
	is "$subject: a command is found from there" \
		"$(cd "$dir/place" && "${init[@]}" ./program --nonsense >>"$log" 2>&1 & sleep 0; wait_for 10 pgrep -x program >/dev/null; pkill -x program; wait $!; echo $?)" 143
	is "$subject: also where that is gone" \
		"$(cd "$dir/place/deeper" && rmdir "$dir/place/deeper" && "${init[@]}" sh -c 'exit 5' 2>>"$log"; echo $?)" 5
	if mount -t tmpfs none "$dir/place" 2>/dev/null; then
		# shellcheck disable=SC2016  # for the inner shell
		is "$subject: it keeps no file system" \
			"$(cd "$dir/place" && exec "${init[@]}" sh -c '
				cd /
				for n in $(seq 1000); do ! umount "$0" || break; done
				mountpoint -q "$0" || echo gone' "$dir/place" 2>/dev/null)" gone
	fi
done

# --- The options of swansongd, which has -s and -c for other things ------------------------------

real=$(program swansongd)
status_in() { (cd "$dir" && "$@" >>"$log" 2>&1 </dev/null; echo $?); }
is "bundled: -vg" "$(status_in "$real" -vg -- sh -c 'exit 3')" 3
is "bundled: -qge 3" "$(status_in "$real" -qge 3 -- sh -c 'exit 3')" 0
is "bundled: -ge3" "$(status_in "$real" -ge3 sh -c 'exit 3')" 0
is "bundled: -gpTERM" "$(status_in "$real" -gpTERM -- sh -c 'exit 4')" 4
is "bundled: -vgs PATH" "$(status_in "$real" -vgs "$dir/bundled" -- test -S "$dir/bundled")" 0
is "bundled: -gsPATH" "$(status_in "$real" "-gs$dir/bundled" -- test -S "$dir/bundled")" 0
ok "the socket is gone with it" not test -e "$dir/bundled"
mkdir "$dir/sub"
is "a relative -s PATH begins at the current directory" \
	"$(status_in "$real" -s sub/socket -- "$swansongctl" -s "$dir/sub/socket" status)" 0
ok "and gone with it" not test -e "$dir/sub/socket"
is "a relative SWANSONG_SOCKET, too" \
	"$(SWANSONG_SOCKET=./sub/other status_in "$real" -s ./sub/other -- test -S "$dir/sub/other")" 0
ok "which goes, too" not test -e "$dir/sub/other"
: >"$log"
for spelling in "-c --" "-c" "-vc --"; do
	# shellcheck disable=SC2086  # words
	is "dumb-init's $spelling is refused" "$(status_in "$real" $spelling touch touched)" 2
done
ok "the message names the right option" says "$log" 'for the -c of other inits use --single-child'
ok "and nothing is run" not test -e "$dir/touched"
finish
