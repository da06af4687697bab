#!/bin/bash
# What a process runs as, beside its user: limits and the like, from the configuration to the kernel.
. "${0%/*}/lib.sh"

limit() { # NODE NAME: its soft and hard value
	awk -v name="$2" 'index($0, name "  ") == 1 {
		$0 = substr($0, length(name) + 1); print $1, $2 }' "/proc/$(pid_of "$1")/limits"
}

config <<END
[limits]
limit-nofile = 100:200
limit-core = 0
[limits/own]
command = $helpers/idle
limit-nofile = 64
limit-fsize = 1M:2M
limit-cpu = 1000:2000
[limits/inherited]
command = $helpers/idle
[plain]
command = $helpers/idle
[priorities]
nice = 19
oom-score-adjust = 1000
io-class = best-effort:6
cpu-affinity = $(awk '/^Cpus_allowed_list/ { sub(/.*[-,]/, "", $2); print $2 }' /proc/self/status)
[priorities/own]
command = $helpers/idle
io-class = idle
[bare]
command = $helpers/idle
no-new-privileges = yes
[refused]
command = $helpers/idle
limit-nofile = 2000000000
restart = never
END
start_daemon
for node in limits/inherited priorities/own bare; do
	wait_for 10 has_state "$node" up || die "$node is up"
done
wait_for 10 has_state refused failed || die "an impossible limit is a failed start"
is "a number is both limits" "$(limit limits/own 'Max open files')" "64 64"
is "soft and hard" "$(limit limits/own 'Max file size')" "1048576 2097152"
is "of seconds" "$(limit limits/own 'Max cpu time')" "1000 2000"
is "inherited" "$(limit limits/own 'Max core file size')" "0 0"
is "from above" "$(limit limits/inherited 'Max open files')" "100 200"
is "else the daemon's" "$(limit plain 'Max file size')" \
	"$(ulimit -f | sed 's/.*/& &/')"
pid=$(pid_of priorities/own)
is "the nice value" "$(ps -o ni= -p "$pid" | tr -d ' ')" 19
is "how early it is killed" "$(cat "/proc/$pid/oom_score_adj")" 1000
if command -v ionice >/dev/null; then
	is "the I/O class" "$(ionice -p "$pid")" idle
else
	skip "the I/O class" "package util-linux"
fi
is "one processor" "$(awk '/^Cpus_allowed_list/ { print $2 }' "/proc/$pid/status" | tr -d 0-9)" ""
is "and the daemon stays as it was" "$(ps -o ni= -p "$daemon" | tr -d ' ') $(cat "/proc/$daemon/oom_score_adj")" \
	"$(ps -o ni= -p $$ | tr -d ' ') $(cat /proc/$$/oom_score_adj)"
is "no new privileges" "$(awk '/^NoNewPrivs/ { print $2 }' "/proc/$(pid_of bare)/status")" 1
ok "what cannot be is named" says "$log" 'refused: cannot start: set limit-nofile: Operation not permitted'
stop_daemon
is "the end is graceful" "$status" 0

# A user with one right of root's, and a root with no other.
if [ "$(awk 'END { print NR, $3 }' /proc/self/uid_map)" = "1 1" ] ||
	! setpriv --bounding-set -all,+net_bind_service true 2>/dev/null; then
	skip "capabilities" "machine: needs root with cap_setpcap"
	finish
fi
chmod 755 "$dir"
cp "$helpers/idle" "$dir/"
config <<END
[one]
capabilities = cap_net_bind_service
[one/user]
command = $dir/idle
user = daemon
[one/root]
command = $dir/idle
END
start_daemon
for node in one/user one/root; do
	wait_for 10 has_state "$node" up || die "$node is up"
	is "$node has all sets alike" \
		"$(awk '/^Cap/ { print $2 }' "/proc/$(pid_of "$node")/status" | sort -u)" 0000000000000400
done
stop_daemon
finish
