#!/bin/bash
# A service in a sandbox is the same as without: its process, environment, descriptors, sockets, guards, its reload,
# hand-over and stop.  A sandbox that cannot be made is a failed start with the key as the reason.
. "${0%/*}/lib.sh"
. "${0%/*}/holder-lib.sh"
. "${0%/*}/handover-lib.sh"
requires_root
requires_package python3 python3

app=/run/app
hides_homes
mkdir -m 755 "$app" "$app/logs" "$app/own"
chown nobody "$app/own"
cp "$helpers/slow-server" "$helpers/idle" "$top_srcdir/tests/helpers/holder.py" "$app/"
cat >"$app/show" <<-'END'
	#!/usr/bin/python3
	import os, signal
	own = ("LISTEN_PID", "WATCHDOG_PID", "SWANSONG_NODE", "NOTIFY_SOCKET")
	print(*sorted(v for v in os.environ.items() if v[0] not in own), sep="\n")
	print(*sorted((int(n), os.readlink(f"/proc/self/fd/{n}").split(":")[0])
	    for n in os.listdir("/proc/self/fd") if int(n) < 60 and not os.path.islink(f"/proc/self/fd/{n}x")
	    and os.path.exists(f"/proc/self/fd/{n}")), sep="\n")
	print(os.getcwd(), os.getresuid(), os.getresgid(), os.getgroups(), os.getsid(0) == os.getpid())
	print(os.environ["LISTEN_PID"] == os.environ["WATCHDOG_PID"] == str(os.getpid()))
	keys = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "SigBlk", "SigIgn", "Umask", "Groups")
	print(*(l for l in open("/proc/self/status") if l.startswith(keys)))
	print(open("/proc/self/limits").read())
END
chmod 755 "$app/show"

# --- What it has ---

shown() { # NODE KEY...
	printf '[%s]\ncommand = %s/show a "b c"\ntype = oneshot\nrestart = never\n' "$1" "$app"
	printf 'listen = unix:%s/%%%%n.socket\nwatchdog = 1min\nlimit-nofile = 100:200\numask = 0027\n' "$app"
	printf 'environment = LD_BIND_NOT=1 "SPACED=a b" GLIBC_TUNABLES=glibc.rtld.optional_static_tls=512\n'
	printf 'directory = %s\nlog = file:%s/logs/%s\n' "$app" "$app" "$1"
	shift
	printf '%s\n' "$@"
}
keys=(private-tmp=yes private-network=yes hide-home=yes read-only-system=yes "write-paths=-$app/none $app/own")
{
	for kind in free kept; do
		more=()
		[ "$kind" = free ] || more=("${keys[@]}")
		shown "root-$kind" "${more[@]}"
		shown "user-$kind" 'user = nobody' 'groups = daemon' "${more[@]}"
		shown "some-$kind" 'user = nobody' 'capabilities = cap_net_bind_service' "${more[@]}"
		shown "few-$kind" 'capabilities = cap_chown cap_setuid' "${more[@]}"
		shown "bare-$kind" 'no-new-privileges = yes' 'environment-clear = yes' "${more[@]}"
	done
} | config
start_daemon
for of in root user some few bare; do
	for kind in free kept; do
		wait_for 20 has_state "$of-$kind" "done" || die "$of-$kind is done"
		wait_for 5 test -s "$app/logs/$of-$kind" || die "$of-$kind has written"
	done
	ok "as $of, a service in a sandbox has what it has without" diff "$app/logs/$of-free" "$app/logs/$of-kept"
done
ok "with the variables of the loader" grep -q LD_BIND_NOT "$app/logs/user-kept"
ok "and its own pid in the others" grep -qx True "$app/logs/user-kept"
stop_daemon

# --- How it lives ---

strict="private-tmp = yes
private-network = yes
hide-home = yes
read-only-system = yes
tcp-bind = none
tcp-connect = none
private-devices = yes
private-users = yes
protect = all
address-families = unix inet
system-calls = @system-service ~@privileged
user = nobody
directory = /"
echo ready >"$app/word"
mkfifo -m 666 "$app/holder"
tree() { # VALUE
	cat <<-END
		[swansong]
		state = $dir/state
		[web]
		command = $app/slow-server serve $app/word
		listen = tcp:127.0.0.1:8080
		ready = notify
		handover = yes
		drain-timeout = 1min
		environment = VALUE=$1
		$strict
		[work]
		command = /usr/bin/python3 $app/holder.py $app/holder
		notify = yes
		read-paths = $app /etc /dev
		log = file:$app/holder.out
		$strict
		[forks]
		command = sh -c 'setsid $app/idle & echo \$! >$app/own/pid'
		type = forking
		pid-file = $app/own/pid
		write-paths = $app/own
		$strict
		[plain]
		command = $app/idle
		private-tmp = $2
		directory = /
	END
}
tree one no | config
: >"$log"
start_daemon
ok "services that notify, listen and fork come up in it" ctl wait --for ready --timeout 60s
web=$(pid_of web)
is "the process of the service is the command" "$(tr '\0' ' ' <"/proc/$web/cmdline")" "$app/slow-server serve $app/word "
is "with the user" "$(stat -c %U "/proc/$web")" nobody
is "in namespaces of its own" "$([ "$(readlink "/proc/$web/ns/net")" != "$(readlink /proc/self/ns/net)" ] && echo yes)" yes
is "and with a filter" "$(awk '/^Seccomp:/ { print $2 }' "/proc/$web/status")" 2
is "the forking service has its main process" "$(pid_of forks)" "$(<"$app/own/pid")"

ask_until_answer "$dir/slow"
slow=$asked connection=$asking
ok "a request is taken at the socket of the daemon" wait_for 10 is_taken_by "$web"
ok "a hand-over" ctl restart web
new=$(pid_of web)
is "to another run" "$([ "$new" != "$web" ] && echo yes)" yes
answer "$connection"
wait "$slow"
is "the former one answers" "$(server "$dir/slow")" "$web"

plain=$(pid_of plain)
tree one yes | config
ok "a reload with another key" ctl reload
ok "restarts the service" wait_for 10 is_up_anew plain "$plain"
is "and no other" "$(pid_of web)" "$new"

ln -s "$app/holder" "$dir/work"
ln -s "$app/holder.out" "$dir/work.out"
tell work guard one pipe
has_guard() { ctl guards work | grep -q one; }
ok "a guard is taken by the notification socket" wait_for 10 has_guard
tell work patient
ask_until_answer "$dir/slow"
slow=$asked connection=$asking
ok "a request is in progress" wait_for 10 is_taken_by "$new"
kill -TERM "$daemon"
ok "a shutdown in the middle waits for the guard" wait_for 10 has_state work stopping
answer "$connection"
wait "$slow"
is "and the request is answered" "$(server "$dir/slow")" "$new"
ok "and its server ends" wait_for 10 gone "$new"
tell work drop one
echo 'exit 0' >"$app/holder"
await_daemon 20
is "then the daemon ends" "$status" 0
ok "nothing was killed" not grep -q SIGKILL "$log"

# --- Where it is, and what it may write besides ---

before=$PWD
mkdir "$dir/here" "$app/made"
chown nobody "$app/made"
cat >"$app/write" <<-END
	#!/bin/sh
	cd /
	echo x >"\${STATE_DIRECTORY%%:*}/file"
	echo x >$app/own/not
END
chmod 755 "$app/write"
config <<-END
	[elsewhere]
	command = sh -c 'pwd >$app/own/elsewhere'
	type = oneshot
	private-tmp = yes
	write-paths = $app/own
	[made]
	command = $app/write
	type = oneshot
	restart = never
	environment = STATE_DIRECTORY=$app/made:/var/none
	read-only-system = yes
	[given]
	command = sh -c 'echo x >"\$STATE_DIRECTORY/file" && echo x >"\$RUNTIME_DIRECTORY/file"; echo x >/var/lib/no'
	type = oneshot
	restart = never
	user = nobody
	state-directory = given/state:0700
	runtime-directory = given
	read-only-system = yes
	[stays]
	command = $app/idle
END
cd "$dir/here" || exit
: >"$log"
start_daemon
cd "$before" || exit
ok "a directory of the daemon that is hidden" wait_for 10 has_state elsewhere "done"
is "is replaced by the root" "$(<"$app/own/elsewhere")" /
ok "a service with directories" wait_for 10 has_state made failed
is "may write to them" "$(<"$app/made/file")" x
ok "and nowhere else" not test -e "$app/own/not"
wait_for 10 has_state given failed
is "so may one to the directories of its keys" "$(</var/lib/given/state/file)" x
rm -rf /var/lib/given
stop_daemon

# --- How it fails ---

failing() { # NAME PROGRAM LINE...
	printf '[%s]\ncommand = %s\nrestart = never\n' "$1" "$2"
	shift 2
	printf '%s\n' "$@"
}
mkdir -p /home/eve
{
	failing missing "$app/idle" "write-paths = $app/missing"
	failing covered "$app/idle" "hide-home = yes" "directory = /home/eve"
	failing unknown "$app/idle" "system-calls = @system-service no_such_call"
	failing group "$app/idle" "system-calls = @nothing"
	failing hidden "$app/idle" "read-paths = /etc"
	failing absent "$app/absent" "private-tmp = yes" "directory = /"
} | config
: >"$log"
start_daemon
fails() { # NODE REASON
	ok "$1: the start fails" wait_for 10 has_state "$1" failed
	like "$1: for the reason that its status has" "$(field "$1" .service.result)" "$2"
}
fails missing 'cannot start: apply write-paths: No such file or directory'
fails covered 'cannot start: enter the directory /home/eve: No such file or directory'
fails unknown 'cannot start: apply protect, address-families or system-calls: Invalid argument'
ok "unknown: and its output names the word" says "$log" 'system-calls: no_such_call: Invalid argument'
fails group 'cannot start: apply protect, address-families or system-calls: Invalid argument'
fails hidden "cannot start: execute $app/idle: Permission denied"
fails absent "cannot start: execute $app/absent: No such file or directory"
stop_daemon

# Without the program, and without the rights: an error of the start, or with best-effort a warning.
cat >"$app/no-right" <<-END
	#!/bin/sh
	exec setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$swansongd" "\$@"
END
chmod 755 "$app/no-right"
limits=("private-tmp = yes" "hide-home = yes" "read-only-system = yes" "write-paths = $app/own" "directory = /")
{
	failing strict "$app/idle" "${limits[@]}"
	failing network "$app/idle" 'private-network = yes'
	failing files "$app/idle" "write-paths = $app/own" 'user = nobody' 'system-calls = @system-service'
	failing best "sh -c 'echo x >$app/own/best; echo x >/etc/best; echo x >/dev/null; exec $app/idle'" \
		"${limits[@]}" 'sandbox = best-effort' 'private-network = yes' "log = file:$app/logs/best"
} | config
: >"$log"
SWANSONG_SANDBOX=/nonexistent start_daemon
fails files 'cannot start: execute swansong-sandbox: No such file or directory'
stop_daemon
swansongd=$app/no-right
: >"$log"
start_daemon
fails strict 'cannot start: make a mount namespace for private-tmp, private-devices, hide-home, read-only-system or protect: Operation not permitted'
fails network 'cannot start: apply private-network: Operation not permitted'
ok "Landlock and filters need no right" wait_for 10 has_state files up
ok "with best-effort the service starts" wait_for 10 has_state best up
ok "with a warning for the mounts" says "$log" 'best: cannot make a mount namespace .*: started without that'
ok "and for the network" says "$log" 'best: cannot apply private-network: started without that'
ok "it writes in its write-paths" test -s "$app/own/best"
ok "and nowhere else: Landlock stands in for the mounts" not test -e /etc/best
stop_daemon

# --- A daemon without rights ---

as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
if "${as_user[@]}" unshare --user --map-current-user --mount true 2>/dev/null; then
	cat >"$app/user-daemon" <<-END
		#!/bin/sh
		exec ${as_user[*]} "$(realpath "$top_builddir/swansongd")" "\$@"
	END
	chmod 755 "$app/user-daemon"
	chown 65534 "$dir" "$app/own"
	rm -rf "$socket"*
	rm -f "$app/own"/*
	{
		failing own "sh -c 'id -u >$app/own/id; echo x >/tmp/own; ls -A /home >$app/own/homes; echo x >/var/tmp/no; exec $app/idle'" \
			"${limits[@]}" 'private-network = yes' 'system-calls = @system-service' 'private-devices = yes' \
			'private-users = yes' 'protect = all ~processes' 'address-families = unix'
	} | config
	swansongd=$app/user-daemon
	: >"$log"
	start_daemon
	ok "the namespaces are those of a user namespace" wait_for 10 has_state own up
	ok "the service runs" wait_for 10 test -e "$app/own/homes"
	is "as the user" "$(<"$app/own/id")" 65534
	is "without homes" "$(<"$app/own/homes")" ""
	stop_daemon
else
	skip "the namespaces are those of a user namespace" "machine: a user may make no namespaces"
fi

finish
