#!/bin/bash
# In front of one command in a real container, as its PID 1 and beside another PID 1.
. "${0%/*}/lib.sh"
. "${0%/*}/inits.sh"
. "${0%/*}/container-lib.sh"
requires_package python3 python3
requires_podman

make_rootfs "$(program swansong-init)=/init" \
	"$(program swansongd)=/swansongd" "$helpers/orphans=/bin/orphans" \
	"$helpers/signal-log=/bin/signal-log" "$helpers/idle=/bin/idle" /bin/bash
[ ! -x "$top_builddir/swansong-init-static" ] || cp "$top_builddir/swansong-init-static" "$rootfs/static"
printf 'FROM scratch\nCOPY rootfs/ /\n' >"$dir/image/Containerfile"
printf '%s\n' "PS1='ready- '" "bind 'set enable-bracketed-paste off'" >"$rootfs/rc"
ok "the image is built" podman build --network=none -q -t init "$dir/image"

start() { # NAME [OPTION...] -- COMMAND...
	local name=$1 more=()
	shift
	while [ "$1" != -- ]; do more+=("$1"); shift; done
	shift
	run_container "$name" "${options[@]}" "${more[@]}" init "$@"
	box=$name
}
logged() { podman logs "$box" 2>&1 | grep -q "$1"; }
lives() { [ "$(podman logs "$box" 2>&1 | grep -c ready)" = "$1" ]; } # NUMBER: as many began
seccomp=$(podman info -f '{{.Host.Security.SECCOMPEnabled}}')

for subject in "${subjects[@]}"; do
	case $subject in
	init) init=(/init --) ;;
	static) init=(/static --) ;;
	daemon) init=(/swansongd --) ;;
	esac

	start "$subject-signals" --read-only --user 123456:123456 -- "${init[@]}" signal-log /dev/stdout 5
	ok "$subject: read-only, as a user without a name" wait_for 20 logged ready
	if [ "$seccomp" = true ]; then
		is "$subject: behind the default seccomp profile" \
			"$(podman exec "$box" /bin/busybox sed -n 's/^Seccomp:.//p' /proc/1/status)" 2
	else
		skip "$subject: behind the default seccomp profile" "machine: podman has none"
	fi
	podman kill -s USR1 "$box" >/dev/null
	ok "$subject: a signal arrives" wait_for 10 logged USR1
	podman exec "$box" orphans 50
	no_zombies() { [[ ! $(podman exec "$box" /bin/busybox ps -o stat) =~ Z ]]; }
	ok "$subject: orphans of an exec session are reaped" wait_for 10 no_zombies
	began=$(now)
	podman stop -t 30 "$box" >/dev/null
	within "$subject: the stop takes no longer than it has to" $(($(now) - began)) 0 15000
	is "$subject: the exit status" "$(exit_status "$box")" 5
	podman start "$box" >/dev/null
	ok "$subject: a second life of the same container" wait_for 20 lives 2
	podman stop -t 30 "$box" >/dev/null
	is "$subject: ends as the first" "$(exit_status "$box")" 5
	podman start "$box" >/dev/null
	wait_for 20 lives 3
	podman kill -s KILL "$box" >/dev/null
	podman wait "$box" >/dev/null
	podman start "$box" >/dev/null
	ok "$subject: a run after a kill" wait_for 20 lives 4
	podman stop -t 30 "$box" >/dev/null
	is "$subject: ends as the first, too" "$(exit_status "$box")" 5

	# Everything that a runtime hands on is for the command: the descriptor 3 of a socket, with a
	# LISTEN_PID of 1.
	is "$subject: sockets for PID 1" \
		"$(podman run --rm "${options[@]}" -e LISTEN_PID=1 -e LISTEN_FDS=0 init "${init[@]}" /bin/bash -c \
			'[ "$LISTEN_PID" = $$ ] && echo "mine: $LISTEN_FDS"' 2>>"$log")" "mine: 0"

	# Not PID 1, in a pid namespace with another PID 1.
	start "$subject-host" -- /bin/idle
	host=$box
	podman exec "$host" "${init[@]}" /bin/bash -c \
		'echo "init $PPID"; signal-log /dev/stdout & orphans 50; exec signal-log /dev/stdout 6' \
		>"$dir/guest" 2>&1 </dev/null &
	guest=$!
	two_ready() { [ "$(grep -c ready "$dir/guest")" = 2 ]; }
	ok "$subject: in the pid namespace of another" wait_for 20 two_ready
	ok "$subject: no zombie is left there" wait_for 10 no_zombies
	podman exec "$host" /bin/busybox kill -TERM "$(sed -n 's/^init //p' "$dir/guest")"
	wait "$guest"
	is "$subject: its exit status" $? 6
	no_guest() { ! podman exec "$host" /bin/busybox ps -o args | grep -v busybox | grep -q signal-log; }
	ok "$subject: nothing of it is left" wait_for 10 no_guest

	cat >"$dir/script" <<-'END'
		expect ready-
		send bash -c 'echo be""gins; exec busybox cat'\r
		expect begins
		send \x1a
		expect Stopped
		expect ready-
		send fg\r
		expect exec busybox cat
		send abc\r
		expect abc\r\nabc
		send \x03
		expect ready-
		send echo status $?\r
		expect status 130
		expect ready-
		size 30 90
		send until [ "$size" = "30 90" ]; do size=$(busybox stty size); done; echo siz""ed\r
		expect sized
		expect ready-
		send exit 7\r
		end 7
	END
	ok "$subject: job control in podman run -it" \
		terminal "$top_srcdir/tests/integration/with-podman" run -it --rm "${options[@]}" \
		init "${init[@]}" /bin/bash --rcfile /rc -i <"$dir/script"
	podman run -it --rm "${options[@]}" init "${init[@]}" /bin/bash --rcfile /rc -i \
		<<<exit >"$dir/said" 2>&1
	ok "$subject: there is no message about terminals" \
		not grep -E 'terminal process group|job control' "$dir/said"
done
finish
