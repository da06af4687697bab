#!/bin/bash
# Least rights without a container: each key of the sandbox stops an attack that succeeds without it.
. "${0%/*}/lib.sh"
requires_root
requires_package python3 python3

hides_homes
mkdir /home/eve "$dir/out" "$dir/own"
chmod 777 "$dir/own" "$dir"
echo letter >/home/eve/letter
echo draft >"$dir/draft"
chmod 644 "$dir/draft"
cp "$(command -v id)" "$dir/privileged-id"
chmod 4755 "$dir/privileged-id"
python3 -m http.server --bind 127.0.0.1 8090 --directory "$dir/own" >/dev/null 2>&1 &
server=$!
cleanup_fn end_process "$server"
connects() { bash -c ': <>/dev/tcp/127.0.0.1/8090' 2>/dev/null; }
wait_for 10 connects || die "a server runs"

# A file system for control groups that no other program uses, and a device that is not in /dev.
mount -t tmpfs tmpfs /sys/fs/cgroup
mknod /home/zero c 1 5
hostname >"$dir/hostname"
holds="python3 -c 'import sys; sys.exit(not int(next(line for line in open(\"/proc/self/status\") if line.startswith(\"CapEff\")).split()[1], 16) >> int(sys.argv[1]) & 1)'"
netlink="python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)'"

# NAME, the keys that stop it, the attack.
attacks=$(
	cat <<-END
	write		write-paths = $dir/own			echo x >$dir/outside
	remove		write-paths = $dir/own			rm $dir/victim-remove-%i
	shorten		write-paths = $dir/own			truncate -s 0 $dir/victim-shorten-%i
	move		write-paths = $dir/own			mv $dir/victim-move-%i $dir/own/
	system		read-only-system = yes			echo x >/var/tmp/swansong-attack-%i && rm /var/tmp/swansong-attack-%i
	etc		read-only-system = full			echo x >/etc/swansong-attack-%i && rm /etc/swansong-attack-%i
	usr		read-only-system = usr			echo x >/usr/swansong-attack-%i && rm /usr/swansong-attack-%i
	read		read-paths = $dir/own			cat $dir/draft
	home		hide-home = yes				cat /home/eve/letter
	homes		hide-home = read-only			echo x >/home/eve/letter-%i
	tmp		private-tmp = yes			cat $dir/draft
	network		private-network = yes			bash -c ': <>/dev/tcp/127.0.0.1/8090'
	connect		tcp-connect = 5432			bash -c ': <>/dev/tcp/127.0.0.1/8090'
	bind		tcp-bind = none				timeout 5 python3 -c 'import socket; socket.create_server(("127.0.0.1", 0))'
	call		system-calls = ~uname			uname
	calls		system-calls = @system-service		chroot / true
	suid		tcp-bind = 80				[ "\$($dir/privileged-id -u)" = 0 ]
	node		private-devices = yes			mknod $dir/node-%i c 1 3
	device		private-devices = yes			head -c 1 /home/zero
	kmsg		private-devices = yes			[ -e /dev/kmsg ]
	users		private-users = yes			chown daemon $dir/victim-users-%i
	unix		address-families = inet			python3 -c 'import socket; socket.socket(socket.AF_UNIX)'
	netlink		address-families = unix			$netlink
	one-family	address-families = ~netlink		$netlink
	tunable		protect = tunables			cat $dir/hostname >/proc/sys/kernel/hostname
	sysfs		protect = tunables			[ -w /sys/kernel ]
	cgroup		protect = cgroups			echo x >/sys/fs/cgroup/attack-%i
	module		protect = modules			$holds 16
	log		protect = logs				dmesg --syslog
	log-device	protect = logs				true </dev/kmsg
	clock		protect = clock				python3 -c 'import time; time.clock_settime(0, time.time())'
	hostname	protect = hostname			hostname -F $dir/hostname
	process		protect = processes			[ -d /proc/1 ]
	namespace	protect = namespaces			unshare --mount true
	enter		protect = namespaces			nsenter --mount=/proc/self/ns/mnt true
	personality	protect = personality			setarch --addr-no-randomize true
	realtime	protect = realtime			chrt --fifo 1 true
	round-robin	protect = realtime			python3 -c 'import os; os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))'
	chmod		protect = suid				chmod 4755 $dir/victim-chmod-%i
	create		protect = suid				python3 -c 'import os; os.close(os.open("$dir/created-%i", os.O_CREAT, 0o6755))'
	execute		protect = write-execute			python3 -c 'import mmap; mmap.mmap(-1, 4096, prot=7)'
	all		protect = all				hostname -F $dir/hostname
	END
)
write_attacks() {
	local name key word value command
	while read -r name key word value command; do
		: >"$dir/victim-$name-free"
		: >"$dir/victim-$name-kept"
		chmod 666 "$dir/victim-$name"-*
		printf '[%s@]\ninstances = free kept\ntype = oneshot\nrestart = never\ndirectory = /\n' "$name"
		printf "command = sh -c '{ %s; } >/dev/null && echo done || echo refused'\n" "${command//\'/\'\\\'\'}"
		printf 'stdout = file:%s/out/%s-%%i\nlog = null\n' "$dir" "$name"
		[[ $name != @(suid|process) ]] || echo 'user = nobody'
		printf '[%s@kept]\n%s %s %s\n' "$name" "$key" "$word" "$value"
	done <<<"$attacks"
}
{
	write_attacks
	cat <<-END
		[keyring@]
		instances = one two
		type = oneshot
		restart = never
		command = python3 -c 'import ctypes, os; print(ctypes.CDLL(None).syscall(250 if os.uname().machine == "x86_64" else 219, 0, -3, 0))'
		stdout = file:$dir/out/keyring-%i
	END
} | config
has_ended() { [[ $(state "$1") =~ ^(done|failed)$ ]] && [ -s "$dir/out/${1/@/-}" ]; } # NODE
start_daemon
# An attack that the machine itself refuses is none.
is_possible() { # NAME
	[[ $1 != @(node|device|kmsg|log|log-device|module|clock|realtime|round-robin) ]] || [ "$(<"$dir/out/$1-free")" = "done" ]
}
while read -r name key _ value _; do
	for kind in free kept; do
		node=$name@$kind
		wait_for 20 has_ended "$node" || die "$node ends"
	done
	is_possible "$name" || { skip "$name: is refused with $key" "machine: refuses it without $key" && continue; }
	is "$name: succeeds without $key" "$(<"$dir/out/$name-free")" "done"
	is "$name: is refused with it" "$(<"$dir/out/$name-kept")" refused
done <<<"$attacks"
for node in keyring@one keyring@two; do
	wait_for 20 has_ended "$node" || die "$node ends"
done
keyring=$(<"$dir/out/keyring-one")
if [ "$keyring" = -1 ]; then
	skip "each service has a session keyring of its own" "machine: refuses keyrings"
else
	ok "each service has a session keyring of its own" test "$keyring" != "$(<"$dir/out/keyring-two")"
fi
ok "a limit of reading alone leaves files to be moved" "$SWANSONG_SANDBOX" --read-paths="$dir" -- \
	ln "$dir/draft" "$dir/own/draft"
mkdir -p /run/user
ok "a path above a hidden one may be written" "$SWANSONG_SANDBOX" --read-only-system=yes --hide-home=yes --write-paths=/run -- \
	sh -c "mkdir /run/swansong-test-$$ && rmdir /run/swansong-test-$$"
mount -t tmpfs tmpfs /run/user
echo letter >/run/user/letter
ok "which stays hidden" not "$SWANSONG_SANDBOX" --read-only-system=yes --hide-home=yes --write-paths=/run -- \
	cat /run/user/letter
stop_daemon
is "the daemon ends" "$status" 0
finish
