#!/bin/bash
# enable and disable: their effects, which outlive the daemon.
. "${0%/*}/lib.sh"

state=$dir/state
is_disabled() { [ "$(field "$1" .service.disabled)" = true ]; } # NODE
tree() { # [STATE]
	cat <<-END
	[swansong]
	exit-when = never
	state = ${1:-$state}
	[app]
	command = $helpers/idle
	requires = db
	[tick]
	command = sh -c 'echo tick >>$dir/ticks'
	type = oneshot
	schedule = 200ms
	[tock]
	command = sh -c 'echo tock >>$dir/tocks'
	type = oneshot
	schedule = 200ms
	END
	for node in web db group/a group/b; do service "$node"; done
}
lines() { [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE NUMBER

tree | config
start_daemon
ctl wait --for ready >/dev/null
web=$(pid_of web)
is "disable reports it" "$(ctl disable web)" "web: disabled"
ok "it is shown" is_disabled web
like "in the table" "$(ctl status)" 'web .*disabled'
like "and on its page" "$(ctl status web)" 'disabled: +it does not start by itself'
is "it runs on" "$(pid_of web)" "$web"
ok "disable --now also stops it" ctl disable --now group/b db
is "which is down" "$(state group/b)" down
ok "a scheduled service can be disabled" ctl disable tick
touch "$dir/ticks" "$dir/tocks"
n=$(wc -l <"$dir/ticks") m=$(wc -l <"$dir/tocks")
ok "while the other one runs" wait_for 20 lines "$dir/tocks" $((m + 5))
ok "it does not run any more" not lines "$dir/ticks" $((n + 2)) # a tick may have begun before
{ tree; printf 'umask = 077\n'; } | config
ok "a reload" ctl reload
ok "leaves it so" is_disabled web
stop_daemon

# Again.
start_daemon
ok "after a restart of the daemon the others are ready" ctl wait --timeout 60s --for ready
is "and the disabled services are down" "$(state web) $(state group/b)" "down down"
is "beside the others of their group" "$(state group/a)" up
ok "a disabled service that another requires is started" wait_for 10 has_state db up
ok "and by hand" ctl start web
is "each is" "$(state web)" up
ok "it is still disabled" is_disabled web
{ printf '[swansong]\nstate = %s\nexit-when = never\n' "$state"; service db; } | config
ctl reload >/dev/null
tree | config
ctl reload >/dev/null
ok "a section that goes and comes is, too" wait_for 10 is_disabled web
is "and is not started" "$(state web)" down

is "enable reports it" "$(ctl enable --now web)" $'web: enabled\nweb: ready'
ok "a group is enabled with all in it" ctl enable group
stop_daemon
is "the file has the others" "$(grep -v '^#' "$state")" $'disabled db\ndisabled tick'
start_daemon
ok "after that they start by themselves" wait_for 10 has_state web up
ok "all of them" wait_for 10 has_state group/b up

# The file may be written by hand, and may be anything.
echo 'disabled web' >"$state"
ctl reload >/dev/null
ok "a reload reads it" is_disabled web

ok "all of it" not is_disabled tick
printf 'disabled web\nrubbish\n' >"$state"
ctl reload >/dev/null
ok "an invalid state file is reported" says "$log" "$state: not a state file: renamed to $state.bad"
is "and kept aside" "$(cat "$state.bad")" $'disabled web\nrubbish'
ok "then nothing is disabled" not is_disabled web
ok "and all works" ctl disable web
printf 'disabled \xff\0' >"$state"
stop_daemon
start_daemon
ok "so is it at the start" wait_for 10 has_state web up

# A reload that is refused leaves the set and the file as they are, and so does a planned one.
rubbish() { printf 'disabled db\nrubbish\n' >"$state"; }
tree | config
ctl disable web >/dev/null
rubbish
ok "a dry run with another state file" ctl reload --dry-run
ok "leaves the set" is_disabled web
ok "and the file" grep -q rubbish "$state"
{ tree; service late 'listen = tcp:192.0.2.1:80'; } | config
ok "a reload that is refused as it is carried out" not ctl reload
ok "leaves the set" is_disabled web
ok "and the file" grep -q rubbish "$state"
tree | config
rm -f "$state" && mkdir "$state"
ok "a reload with a state file that cannot be read" ctl reload
ok "is logged" says "$log" "$state: cannot be read: the same services as before are disabled"
ok "and leaves the set" is_disabled web
rmdir "$state"
ctl enable web >/dev/null

# A disk that hangs: fsync(2) waits while a file is there.
cat >"$dir/slow.c" <<-END
	#include <sys/syscall.h>
	#include <unistd.h>
	int fsync(int fd)
	{
		char byte;

		if (access("$dir/hang", F_OK) == 0) {
			int gate = syscall(SYS_openat, -100, "$dir/hang", 0);

			(void)!read(gate, &byte, 1);
		}
		return syscall(SYS_fsync, fd);
	}
END
if grep -qs '^SANITIZE_CFLAGS = .' "$top_builddir/Makefile"; then
	skip "a disk that hangs" "machine: a sanitizer comes before other libraries"
elif ! "${CC:-cc}" -shared -fPIC -O1 -o "$dir/slow.so" "$dir/slow.c"; then
	skip "a disk that hangs" "machine: no shared library"
else
	stop_daemon
	LD_PRELOAD=$dir/slow.so start_daemon
	mkfifo "$dir/hang"
	"$swansongctl" disable web >/dev/null &
	first=$!
	ok "a change is being written" wait_for 10 test -e "$state.tmp"
	"$swansongctl" disable group >/dev/null &
	second=$!
	ok "meanwhile the daemon answers" ctl --timeout 60s status
	ok "and restarts services" ctl --timeout 60s restart db
	ok "nothing is disabled yet" not is_disabled web
	exec 8<>"$dir/hang"
	rm "$dir/hang"
	echo >&8
	ok "when the disk goes on, the change is made" wait "$first"
	ok "and the next one" wait "$second"
	is "in the file, too" "$(grep -v '^#' "$state" | tr '\n' ' ')" \
		'disabled group/a disabled group/b disabled web '
	mkfifo "$dir/hang"
	rm -f "$state"
	"$swansongctl" enable web >/dev/null 2>&1 &
	ok "a change is being written" wait_for 10 test -e "$state.tmp"
	stop_daemon
	is "a shutdown does not wait for it" "$status" 0
	exec 8>&-
	unset LD_PRELOAD
	start_daemon
	ctl enable web group >/dev/null
fi

# Without a folder for the file nothing changes.
ok "another one is disabled" ctl disable tick
rm -rf "$state" && mkdir "$state"
is "a change that cannot be written is refused" "$(ctl disable web 2>&1; echo $?)" "swansongctl: web: Is a directory
1"
ok "and not done" not is_disabled web
ok "and a service that was disabled before still is" is_disabled tick
tree none | config
ctl reload >/dev/null
ctl disable web >"$dir/out" 2>&1
is "without a state file it is refused" "$?" 1
like "with the key to set" "$(cat "$dir/out")" 'set state in \[swansong\]'
finish
