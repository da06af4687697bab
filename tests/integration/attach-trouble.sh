#!/bin/bash
# Attached programs that send wrong data or write where they must not: the daemon is unharmed.
. "${0%/*}/lib.sh"
. "${0%/*}/attach-lib.sh"

config <<END
[web]
command = $(attached web attach 'elsewhere 1')
attach = yes
restart-delay = 10ms
stop-timeout = 500ms
drain-timeout = 1s
[other]
command = $(attached other attach 'elsewhere 1')
attach = yes
[foreign]
command = $(attached foreign 'elsewhere 5')
attach = yes
END
start_daemon
for name in web other; do
	wait_for 10 counts "$name" 1 || die "$name is attached"
done

used_ms() { # processor time of the daemon
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print int(($12 + $13) * 1000 / hz) }' \
		"/proc/$daemon/stat"
}
unharmed() { # NAME
	ok "$1: the daemon answers" ctl status
	is "$1: the others are as they were" "$(program other count)" 1
}
count_is_sane() {
	local n
	n=$(field web .guards)
	[ "$n" -ge 1 ] && [ "$n" -le 2147483648 ]
}

# --- No program is attached ---

is "a process without the lock counts nothing" "$(program foreign count) $(field foreign .guards)" " 1"

# --- The page ---

for seed in 1 2 3 4 5 6 7 8; do
	tell web "scribble $seed"
	ok "scribble $seed: the shown count is a number" count_is_sane
	ctl guards >"$dir/out" || result 1 "scribble $seed: the guards are shown"
done
unharmed "a page full of nonsense"
tell web gathered
tell web 'elsewhere 9223372036854775807'
is "more than there can be is a great number" "$(program web count)" 2147483647
tell web 'elsewhere -9223372036854775808'
is "less than there can be is none" "$(program web count)" ""
tell web 'elsewhere 2'

# --- The socket ---

for text in '' COMPLETE ATTACHED STOP REPORT 'REPORT|' COMPLETED 'complete' x; do
	tell web "say $text"
done
is "words that make no sense now" "$(program web count)" 2
for report in 1 '1 2' '1 2|' '-1 2 x|' '1 -2 x|' 'x 2 x|' '1 2 x' '99999999999999999999 2 x|' \
	'1 99999999999999999999 x|' '|'; do
	tell web "report $report"
	seen=$(grep -c 'got REPORT' "$dir/web.log")
	asked() { ctl guards >/dev/null; [ "$(grep -c 'got REPORT' "$dir/web.log")" -gt "$seen" ]; }
	wait_for 10 asked || die "a report is asked for"
	is "no report: $report" "$(program web why)" null
done
many=$(printf "%.0s1 2 a-place-with-a-long-name|" {1..100})
tell web "report $many"
cut_short() { [[ $(program web why) == '1 x a-place-with-a-long-name, '*', ...' ]]; }
ok "a long report is cut short" wait_for 10 cut_short
n=$(descriptors)
for _ in 1 2 3; do
	tell web descriptors
done
unharmed "descriptors with a message"
ok "they are not kept" wait_for 10 has_descriptors "$n"

before=$(used_ms)
begun=$(now)
echo 'flood 1000000' 1<>"$dir/web.fifo"
# The program reads its next command after the flood: the socket takes no more than the daemon reads.
ok "a flood: the daemon answers" ctl status
stop_at=$((begun + 2000))
while [ "$(now)" -lt "$stop_at" ]; do
	ctl guards other >"$dir/out"
done
spent=$(($(used_ms) - before))
within "a flood: the daemon has better to do" "$spent" 0 $((($(now) - begun) / 2))
unharmed "a flood"
kill -KILL "$(pid_of web)"
ok "a flooder that dies is restarted" wait_for 10 counts web 1

tell web close
ok "a program that closes the socket is not attached any more" wait_for 10 counts web ""
unharmed "a closed socket"

# --- The process ---

kill -KILL "$(pid_of web)"
ok "the next one is" wait_for 10 counts web 1
kill -STOP "$(pid_of web)"
for _ in {1..30}; do
	ctl guards >"$dir/out"
done
is "a suspended program is attached" "$(program web count)" 1
begun=$(now)
ok "and can be stopped" ctl stop web
within "in its time" $(($(now) - begun)) 0 15000
ok "a suspended one, once more" ctl start web
wait_for 10 counts web 1 || die "web is attached"
tell web ignore
kill -STOP "$(pid_of web)"
ok "a program that ignores its signal is stopped as well" by_force ctl stop web
ok "is waited for as it was busy" says "$log" 'web: busy: 1 guard; waiting up to '
ok "and killed" says "$log" 'web: killing pid'
unharmed "suspended programs"

ok "and once more" ctl start web
wait_for 10 counts web 1 || die "web is attached"
tell web spoil
ok "a program with a page that cannot be written to is stopped" ctl stop web
ok "and gets the message of the stop" wait_for 10 got web 'got STOP 0'

# --- No room ---

refuse() { # CALL ERROR: in the daemon, until the end of $tracer
	strace -qq -o /dev/null -p "$daemon" -e trace="$1" -e "inject=$1:error=$2" 2>"$dir/strace" &
	tracer=$!
	cleanup_fn end_process "$tracer"
	wait_for 10 not says "/proc/$daemon/status" '^TracerPid:[[:space:]]0$'
}
refused() { # CALL ERROR TEXT
	if ! refuse "$1" "$2"; then
		skip "$1: $2" "machine: refuses ptrace ($(tail -n 1 "$dir/strace"))"
		return
	fi
	ctl start --no-wait web >"$dir/out"
	ok "$1: $2: the start fails, and is tried again" \
		wait_for 10 says "$log" "web: cannot start: make a page for its guards: $3; again in"
	kill -TERM "$tracer"
	wait "$tracer" 2>/dev/null
	ok "$1: $2: until it succeeds" wait_for 20 counts web 1
	ctl stop web >"$dir/out"
}
if command -v strace >/dev/null; then
	refused memfd_create EMFILE 'Too many open files'
	refused ftruncate ENOMEM 'Cannot allocate memory'
	refused socketpair ENFILE 'Too many open files in system'
else
	skip "a page cannot be made" "package strace"
fi
n=$(descriptors)
ok "start" ctl start web
wait_for 10 counts web 1 || die "web is attached"
ok "stop" ctl stop web
ok "descriptors are closed again" wait_for 10 has_descriptors "$n"
ok "start" ctl start web
stop_daemon 20
ok "the end comes" [ "${status%%:*}" != none ]
finish
