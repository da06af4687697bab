#!/bin/bash
# Least rights without a container: each key of the sandbox stops an attack that succeeds without it.
. "${0%/*}/lib.sh"
requires_root
requires_package python3 python3

mount -t tmpfs tmpfs /home
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
		[ "$name" != suid ] || echo 'user = nobody'
		printf '[%s@kept]\n%s %s %s\n' "$name" "$key" "$word" "$value"
	done <<<"$attacks"
}
write_attacks | config
has_ended() { [[ $(state "$1") =~ ^(done|failed)$ ]] && [ -s "$dir/out/${1/@/-}" ]; } # NODE
start_daemon
while read -r name key _ value _; do
	for kind in free kept; do
		node=$name@$kind
		wait_for 20 has_ended "$node" || die "$node ends"
	done
	is "$name: succeeds without $key" "$(<"$dir/out/$name-free")" "done"
	is "$name: is refused with it" "$(<"$dir/out/$name-kept")" refused
done <<<"$attacks"
ok "a limit of reading alone leaves files to be moved" "$SWANSONG_SANDBOX" --read-paths="$dir" -- \
	ln "$dir/draft" "$dir/own/draft"
stop_daemon
is "the daemon ends" "$status" 0
finish
