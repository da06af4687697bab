#!/bin/bash
# log-user: the logger has the rights of that user only, and loses nothing for it.
. "${0%/*}/lib.sh"
requires_root
requires_package zstd zstd

user=nobody
mkfifo "$dir/lines"
mkdir "$dir/logs" "$dir/roots"
chown "$user" "$dir/logs"
chmod 711 "$dir"
chmod 666 "$dir/lines"

config <<END
[swansong]
log-user = $user
[load]
command = sh -c 'seq 1 200000; exec $helpers/idle'
log = file:$dir/logs/made/load
log-size = 100K
log-keep = 1000
log-compress = yes
[forbidden]
command = $helpers/idle
log = file:$dir/roots/forbidden
[echo]
command = sh -c 'while read -r line; do echo "\$line"; done <>$dir/lines'
user = daemon
[shown]
command = sh -c 'echo out; echo err >&2; exec $helpers/idle'
END
start_daemon
wait_for 10 has_state load up || die "load is up"
all() {
	local file
	for file in "$dir"/logs/made/load.* "$dir/logs/made/load"; do
		if [[ $file == *.zst ]]; then zstd -dcq "$file"; else cat "$file"; fi
	done 2>/dev/null
}
is_all() { [ "$(all | cksum)" = "$(seq 1 200000 | cksum)" ]; }
ok "every line is written, rotated and compressed" wait_for 30 is_all
is "the files are the user's" "$(find "$dir/logs" ! -user "$user")" ""
pid=$(logger)
is "the logger is" "$(ps -o user= -p "$pid" | tr -d ' ')" "$user"
is "with its groups" "$(awk '$1 == "Groups:" { $1 = ""; print }' "/proc/$pid/status" | tr -d ' ')" \
	"$(id -G "$user" | tr -d ' ')"
is "and without a capability" "$(sed -n 's/^CapPrm:\t//p' "/proc/$pid/status")" 0000000000000000
ok "a file that the user may not make is named" \
	wait_for 10 says "$log" "forbidden: log: cannot write $dir/roots/forbidden: Permission denied"
ok "its service runs" has_state forbidden up
is "no file is there" "$(find "$dir/roots" -type f)" ""
ok "output without a key comes" wait_for 10 says "$log" 'shown .*out$'
ok "of both streams" wait_for 10 says "$log" 'shown .*err$'

end_process "$pid"
is_another() { [ -n "$(logger)" ] && [ "$(logger)" != "$pid" ]; }
wait_for 10 is_another || die "there is another logger"
echo after >"$dir/lines"
ok "another logger is the user's, too" wait_for 10 says "$log" 'echo .*after$'
is "which it is" "$(ps -o user= -p "$(logger)" | tr -d ' ')" "$user"
chown "$user" "$dir/roots"
ok "with the right the file is made" wait_for 10 test -f "$dir/roots/forbidden"
stop_daemon
is "the end is graceful" "$status" 0
ok "no process is left" wait_for 10 nobody_else

sed -i "s/^log-user = .*/log-user = no-such-user/" "$ini"
like "a user that is not there is refused" "$("$swansongctl" check "$ini" 2>&1)" \
	"$ini:2: \\[swansong\\] log-user: invalid value 'no-such-user': no such user on this system"
finish
