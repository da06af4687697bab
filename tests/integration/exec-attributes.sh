#!/bin/bash
# Attributes of a process beside its user: limits and the like, from the configuration to the kernel.
. "${0%/*}/lib.sh"

limit() { # NODE NAME: its soft and hard value
	awk -v name="$2" 'index($0, name "  ") == 1 {
		$0 = substr($0, length(name) + 1); print $1, $2 }' "/proc/$(pid_of "$1")/limits"
}

# A name as in prlimit(1), the value in the configuration, and the value in the kernel then.
limits=$(
	cat <<-END
	as		1T:2T			Max address space:$((1 << 40)) $((2 << 40))
	core		1M:2M			Max core file size:$((1 << 20)) $((2 << 20))
	cpu		1001:2001		Max cpu time:1001 2001
	data		3G:4G			Max data size:$((3 << 30)) $((4 << 30))
	fsize		5M:infinity		Max file size:$((5 << 20)) unlimited
	locks		11:12			Max file locks:11 12
	memlock		13K:14K			Max locked memory:$((13 << 10)) $((14 << 10))
	msgqueue	1000:2000		Max msgqueue size:1000 2000
	nice		1:2			Max nice priority:1 2
	nofile		65:66			Max open files:65 66
	nproc		5000:6000		Max processes:5000 6000
	rss		7G:8G			Max resident set:$((7 << 30)) $((8 << 30))
	rtprio		3:4			Max realtime priority:3 4
	rttime		1000000:2000000		Max realtime timeout:1000000 2000000
	sigpending	101:102			Max pending signals:101 102
	stack		2M:4M			Max stack size:$((2 << 20)) $((4 << 20))
	END
)
may_be() { # NAME SOFT HARD: this test may set it, and so may the daemon
	prlimit "--$1=$2:$3" true 2>"$dir/refusal"
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
[priorities/level]
command = $helpers/idle
nice = 3
[bare]
command = $helpers/idle
no-new-privileges = yes
[wanted]
command = $helpers/idle
oom-score-adjust = -900
restart = never
[lowered]
command = $helpers/idle
limit-nofile = 100:2000000000
limit-core = 0
restart = never
END
echo '[every]' >>"$ini"
echo "command = $helpers/idle" >>"$ini"
while read -r name value shown; do
	read -r soft hard <<<"${shown#*:}"
	! may_be "$name" "$soft" "$hard" || echo "limit-$name = $value" >>"$ini"
done <<<"$limits"
start_daemon
for node in wanted lowered limits/inherited every priorities/own priorities/level bare; do
	wait_for 10 has_state "$node" up || die "$node is up"
done
is "a number is both limits" "$(limit limits/own 'Max open files')" "64 64"
is "soft and hard" "$(limit limits/own 'Max file size')" "1048576 2097152"
is "of seconds" "$(limit limits/own 'Max cpu time')" "1000 2000"
is "inherited" "$(limit limits/own 'Max core file size')" "0 0"
is "from above" "$(limit limits/inherited 'Max open files')" "100 200"
is "else the daemon's" "$(limit plain 'Max file size')" \
	"$(ulimit -f | sed 's/.*/& &/')"
while read -r name value shown; do
	if grep -q "^limit-$name = $value\$" "$ini"; then
		is "limit-$name" "$(limit every "${shown%:*}")" "${shown#*:}"
	else
		skip "limit-$name" "machine: needs root with cap_sys_resource"
	fi
done <<<"$limits"
pid=$(pid_of priorities/own)
is "the nice value" "$(ps -o ni= -p "$pid" | tr -d ' ')" 19
is "the nearest one" "$(ps -o ni= -p "$(pid_of priorities/level)" | tr -d ' ')" 3
is "how early it is killed" "$(cat "/proc/$pid/oom_score_adj")" 1000
if command -v ionice >/dev/null; then
	is "the I/O class" "$(ionice -p "$pid")" idle
	is "with its level" "$(ionice -p "$(pid_of priorities/level)")" "best-effort: prio 6"
else
	skip "the I/O class" "package util-linux"
fi
is "the process has one processor" "$(awk '/^Cpus_allowed_list/ { print $2 }' "/proc/$pid/status" | tr -d 0-9)" ""
is "and the daemon stays as it was" "$(ps -o ni= -p "$daemon" | tr -d ' ') $(cat "/proc/$daemon/oom_score_adj")" \
	"$(ps -o ni= -p $$ | tr -d ' ') $(cat /proc/$$/oom_score_adj)"
is "no new privileges" "$(awk '/^NoNewPrivs/ { print $2 }' "/proc/$(pid_of bare)/status")" 1
ok "a limit that cannot be raised is named" says "$log" \
	"lowered: limit-nofile lowered to $(ulimit -Hn): the daemon has no right to raise its hard limit"
is "and is the hard limit of the daemon" "$(limit lowered 'Max open files')" "100 $(ulimit -Hn)"
is "the other limits are named nowhere" "$(grep -c 'lowered to' "$log")" 1
score=$(cat "/proc/$(pid_of wanted)/oom_score_adj")
if (echo -900 >/proc/self/oom_score_adj) 2>"$dir/refusal"; then
	is "a score below that of the daemon" "$score" -900
else
	is "a score that the daemon has no right to lower stays" "$score" "$(cat "/proc/$daemon/oom_score_adj")"
	ok "with a warning" says "$log" 'wanted: oom-score-adjust not set: the daemon has no right to lower its own'
fi
stop_daemon
is "the end is graceful" "$status" 0

# Without the right to lower the nice value.
if is_root; then
	config <<-END
		[wanted]
		command = $helpers/idle
		nice = -5
		restart = never
	END
	launch setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice nice -n 2 "$swansongd" -v -c "$ini" --socket "$socket"
	wait_for 10 has_state wanted up || die "a service is up without the nice value that it cannot have"
	is "its nice value stays that of the daemon" "$(ps -o ni= -p "$(pid_of wanted)" | tr -d ' ')" \
		"$(ps -o ni= -p "$daemon" | tr -d ' ')"
	ok "with a warning of its own" says "$log" 'wanted: nice not set: the daemon has no right to lower its own'
	stop_daemon
else
	skip "a nice value that cannot be lowered" "machine: needs root"
fi

# A user with one capability of root, and a root with no other.
if ! is_root ||
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
