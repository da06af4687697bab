#!/bin/bash
# In front of one command where something is missing; and the settings that the command inherits.
. "${0%/*}/lib.sh"
. "${0%/*}/inits.sh"
requires_package setpriv util-linux
requires_package python3 python3

# The signals that are ignored, but for the two that are the C library's own.
ignored() {
	local set
	set=$(sed -n 's/^SigIgn:\t//p')
	printf '%016x' $((0x$set & ~0x180000000))
}

# A folder for a user that may not enter every folder; and with libraries, for a root of its own.
root=$dir/root
"$top_srcdir/contrib/container/mkrootfs" "$root" "$(program swansong-init)=/init" \
	"$(program swansongd)=/swansongd" "$helpers/orphans=/orphans" "$helpers/idle=/idle" \
	"$helpers/signal-log=/signal-log" /bin/sh || die "a root of its own is made"
[ ! -x "$top_builddir/swansong-init-static" ] || cp "$top_builddir/swansong-init-static" "$root/static"
mkdir "$root/free"
chmod 777 "$root/free"
cp "$helpers/signal-log" "$dir/"
place() { # SUBJECT PREFIX [OPTION...]: there, in ${init[@]}
	local prefix=$2
	subject=$1
	shift 2
	case $subject in
	init) init=("$prefix/init" "$@" --) ;;
	static) init=("$prefix/static" "$@" --) ;;
	daemon) init=("$prefix/swansongd" "$@" --) ;;
	esac
}

# Runs, gets a signal, and ends: in ENTER..., where the rest is called as seen from inside.
lives() { # NAME COMMAND-PREFIX SIGNALS-AS-SEEN SIGNALS ENTER...
	local name=$1 prefix=$2 seen=$3 signals=$4 target
	shift 4
	rm -f "$signals"
	launch "$@" "${init[@]}" "$prefix/signal-log" "$seen" 9
	if wait_for 10 says "$signals" ready; then
		target=$daemon
		[ "$(readlink "/proc/$daemon/exe")" != /usr/bin/unshare ] || target=$(inner)
		kill -USR1 "$target"
		wait_for 10 says "$signals" USR1
		kill -TERM "$target"
	fi
	await_daemon 10
	is "$subject: $name" "$status $(paste -sd' ' "$signals" 2>/dev/null)" "9 ready USR1 TERM"
}

for subject in "${subjects[@]}"; do
	place "$subject" "$root"
	choose "$subject"
	userns=(unshare --user --map-root-user --pid --fork --kill-child)
	if "${userns[@]}" true 2>/dev/null; then
		lives "as PID 1 of a user namespace" "$dir" "$dir/signals" "$dir/signals" "${userns[@]}"
	else
		skip "$subject: as PID 1 of a user namespace" "machine: refuses user namespaces"
	fi
	if is_root; then
		place "$subject" "$root"
		user=(setpriv --reuid 123456 --regid 123456 --clear-groups --inh-caps=-all)
		lives "as a user without a name" "$root" "$root/free/signals" "$root/free/signals" "${user[@]}"
		place "$subject" ""
		# A daemon with services gives them /dev/null to read.
		[ "$subject" != daemon ] || { mkdir "$root/dev" && mknod -m 666 "$root/dev/null" c 1 3; }
		chroot=(unshare --pid --fork --kill-child chroot)
		lives "as PID 1 of an empty root: no /proc, /run, /dev/shm, /tmp" "" /free/signals \
			"$root/free/signals" "${chroot[@]}" "$root"
		lives "the same as that user" "" /free/signals "$root/free/signals" \
			"${chroot[@]}" --userspec=123456:123456 "$root"
		lives "there, and not PID 1" "" /free/signals "$root/free/signals" chroot "$root"
		is "$subject: there, remaining processes of the group end" \
			"$(status_of chroot "$root" "${init[@]}" /bin/sh -c '/idle & exit 3')" 3
		ok "$subject: all of them" not pgrep -x idle
		place "$subject" "$root"
		# shellcheck disable=SC2016  # for the inner shell
		lives "with everything read-only" "$root" "$root/free/signals" "$root/free/signals" \
			unshare --mount --pid --fork --kill-child sh -c '
				mount -t tmpfs -o ro none /run && mount -t tmpfs -o ro none /dev/shm &&
				mount --bind "$0/free" "$0/free" && mount -o remount,bind,ro / && exec "$@"' "$root"
		rm -rf "${root:?}/dev"
	else
		skip "$subject: other roots and users" "machine: needs root"
	fi

	# Its standard files and limits.
	choose "$subject"
	is "$subject: without a standard input" \
		"$("${init[@]}" sh -c 'echo out; cat; exit 3' <&- 2>>"$log"; echo $?)" $'out\n3'
	is "$subject: without any standard file" "$("${init[@]}" sh -c 'exit 4' <&- >&- 2>&-; echo $?)" 4
	# A descriptor 3 of make's own may be in the way.
	few() { (exec 3>&- && ulimit -Sn 4 && "${init[@]}" sh -c 'ulimit -Sn; exit 3' 2>>"$log"; echo $?); }
	is "$subject: with a limit of four descriptors, which the command has, too" "$(few)" $'4\n3'
	no_null() { unshare --mount sh -c 'mount -t tmpfs none /dev && exec "$@"' sh "${init[@]}" /bin/sh -c 'exit 5'; }
	is "$subject: without /dev/null" "$(no_null 2>>"$log"; echo $?)" 5
	is "$subject: and without a standard input" "$(no_null <&- 2>>"$log"; echo $?)" 5
	choose "$subject" -v
	gone_reader() {
		local statuses
		"${init[@]}" sh -c 'trap "" PIPE; until ! echo x; do :; done; echo x >&2; exit 5' 2>&1 | true
		statuses=("${PIPESTATUS[@]}")
		return "${statuses[0]}"
	}
	gone_reader
	is "$subject: its output's reader is gone" $? 5
	choose "$subject"
	is "$subject: open files are the command's" "$("${init[@]}" cat <(echo in) 2>>"$log")" in
	is "$subject: and ours are not" "$("${init[@]}" ls /proc/self/fd 2>>"$log" </dev/null | paste -sd' ')" \
		"$(env ls /proc/self/fd 2>>"$log" </dev/null | paste -sd' ')"
	is "$subject: the directory, and the umask" \
		"$(cd / && umask 027 && "${init[@]}" sh -c 'pwd; umask' 2>>"$log")" $'/\n0027'
	is "$subject: nothing is blocked" \
		"$("${init[@]}" sed -n 's/^SigBlk:\t//p' /proc/self/status 2>>"$log")" 0000000000000000
	is "$subject: and the signals that were blocked before stay so" "$(env --block-signal=USR1,TERM "${init[@]}" sed -n 's/^SigBlk:\t//p' \
		/proc/self/status 2>>"$log")" 0000000000004200
	is "$subject: ignored signals stay ignored, and no other" \
		"$(trap '' HUP CHLD; "${init[@]}" cat /proc/self/status 2>>"$log" | ignored)" \
		"$(trap '' HUP CHLD; sed '' /proc/self/status | ignored)"
	# shellcheck disable=SC2016  # for the inner shell
	is "$subject: sockets for us are the command's" \
		"$(sh -c 'LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=x exec "$@"' sh "${init[@]}" \
			sh -c 'test $LISTEN_PID = $$ && echo $LISTEN_FDS $LISTEN_FDNAMES; cat <&3' \
			3< <(echo three) 2>>"$log")" $'1 x\nthree'
	# shellcheck disable=SC2016  # for the inner shell
	is "$subject: sockets of another process are not" \
		"$(LISTEN_PID=1234567 "${init[@]}" sh -c 'echo ${LISTEN_PID-none}' 2>>"$log")" \
		"$([ "$subject" = daemon ] && echo none || echo 1234567)"
	printf 'echo a script; exit 6\n' >"$dir/script"
	chmod +x "$dir/script"
	is "$subject: a script without an interpreter line" \
		"$("${init[@]}" "$dir/script" 2>>"$log"; echo $?)" $'a script\n6'
done

for subject in "${subjects[@]}"; do
	[ "$subject" != daemon ] || continue # the daemon executes a script itself
	choose "$subject"
	# shellcheck disable=SC2016  # for the inner shell
	is "$subject: NOTIFY_SOCKET is kept" \
		"$(NOTIFY_SOCKET=@nobody "${init[@]}" sh -c 'echo $NOTIFY_SOCKET' 2>>"$log")" @nobody
	# The reader sees the end of the output when the command closes it, not when the init ends.
	mkfifo "$dir/$subject.fifo"
	"${init[@]}" sh -c "echo x; exec >&-; exec '$helpers/idle'" >"$dir/$subject.fifo" 2>>"$log" </dev/null &
	daemon=$!
	cleanup_fn end_process "$daemon"
	ok "$subject: the command's output ends with it" timeout 10 cat "$dir/$subject.fifo"
	end_process "$daemon"
done
finish
