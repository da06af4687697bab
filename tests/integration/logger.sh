#!/bin/bash
# Files of output are written by swansong-logger: nothing is lost when it dies, when the disk is full, or
# when a service or the daemon ends.
. "${0%/*}/lib.sh"
requires_package python3 python3

logger_is_there() { [ -n "$(logger)" ]; }
size() { stat -c %s "$1" 2>/dev/null || echo 0; }
last() { tail -n 1 "$dir/$1"; } # FILE

cat >"$dir/says-last" <<-'END'
	#!/bin/bash
	# A last line after the stop signal.
	trap 'echo "last of $1"; exit 0' TERM
	echo "first of $1"
	while :; do read -r -t 60 _ <>"$2"; done
END
chmod +x "$dir/says-last"
cat >"$dir/loader" <<-'END'
	#!/bin/bash
	# Numbers from 1 on, until it is enough.
	for ((n = 0; ; n++)); do
		seq $((n * 20000 + 1)) $(((n + 1) * 20000))
		[ ! -e "$1/enough" ] || break
		sleep 0.01
	done
	echo $(((n + 1) * 20000)) >"$1/last-number"
	END
chmod +x "$dir/loader"
mkfifo "$dir/never" "$dir/lines" "$dir/fifo"

# --- Lines, whole and all of them ---

config <<END
[load]
command = $dir/loader $dir
type = oneshot
autostart = no
log = file:$dir/load
log-size = infinity
[one]
command = $dir/says-last one $dir/never
log = file:$dir/made/for/it/both
[two]
command = $dir/says-last two $dir/never
log = file:$dir/made/for/it/both
[rotated]
command = seq 1 100000
type = oneshot
log = file:$dir/rotated
log-size = 100K
log-keep = 3
[fifo]
command = true
type = oneshot
restart = never
log = file:$dir/fifo
[cat]
command = sh -c 'exec cat <>$dir/lines'
log = file:$dir/cat
[other]
command = sh -c 'echo by its name >/dev/stdout'
type = oneshot
stdout = file:$dir/other
stderr = file:$dir/other.err
$(! is_root || echo user = nobody)
END
start_daemon
ok "a FIFO is refused by its name" wait_for 10 says "$log" \
	"fifo: log: cannot write $dir/fifo: it is a FIFO, a socket or a device"
like "and by check with its line" "$("$swansongctl" check "$ini" 2>&1)" \
	"$ini:[0-9]+: \\[fifo\\] log: '$dir/fifo' cannot be a log file: it is a FIFO"
ok "the one with limits is done" wait_for 10 has_state rotated "done"
is "three rotated files are kept" "$(find "$dir" -name 'rotated.*' | wc -l)" 3
is "none is larger than its limit" "$(find "$dir" -name 'rotated*' -size +100k)" ""
is "no line is missing at the end" "$(cat "$dir"/rotated.* "$dir/rotated" | tail -n 40000 | cksum)" \
	"$(seq 60001 100000 | cksum)"
wait_for 10 has_state other "done" || die "the other is done"
is "it can be opened by its name" "$(last other)" "by its name"

ctl stop one >/dev/null
is "the last line is there when the stop has returned" "$(last made/for/it/both)" "last of one"
is "of both all lines are whole" "$(sort "$dir/made/for/it/both" | tr '\n' '|')" \
	"first of one|first of two|last of one|"

died=0
ctl start load >/dev/null 2>&1 &
starting=$!
wait_for 10 test -s "$dir/load" || die "there is load"
for _ in {1..20}; do
	pid=$(logger)
	before=$(size "$dir/load")
	kill -KILL "$pid" || break
	is_another() { local p; p=$(logger); [ -n "$p" ] && [ "$p" != "$pid" ]; }
	wait_for 10 is_another || break
	has_grown() { [ "$(size "$dir/load")" -gt "$before" ] || has_state load "done"; }
	wait_for 10 has_grown || break
	died=$((died + 1))
done
touch "$dir/enough"
wait "$starting"
is "the logger is killed twenty times" "$died" 20
ok "the load is done" wait_for 60 has_state load "done"
is "no line is lost, none is there twice" "$(cksum <"$dir/load")" "$(seq 1 "$(cat "$dir/last-number")" | cksum)"
ok "the log reports the death" says "$log" 'logger: has died; started again'

# --- Names, and changes by a reload ---

echo before >"$dir/lines"
ok "a line comes" wait_for 10 says "$dir/cat" '^before$'
mv "$dir/cat" "$dir/cat.old"
kill -USR2 "$daemon"
is_new() { echo after >"$dir/lines" && says "$dir/cat" '^after$'; }
ok "SIGUSR2 opens the files anew" wait_for 10 is_new
cat=$(pid_of cat)
sed -i "s|^log = file:$dir/cat\$|&\nlog-timestamp = iso|; s/^\[two\]/[renamed]/" "$ini"
ctl reload >/dev/null 2>&1
is_stamped() { echo stamped >"$dir/lines" && says "$dir/cat" '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z stamped$'; }
ok "a timestamp counts at once" wait_for 10 is_stamped
is "without a restart" "$(pid_of cat)" "$cat"
ok "a node that is renamed is up" wait_for 10 has_state renamed up
ok "its file has the last line under the old name" says "$dir/made/for/it/both" '^last of two$'
stop_daemon
is "the end is graceful" "$status" 0
is "with it the last line is there" "$(last made/for/it/both)" "last of two"
ok "no process is left" wait_for 10 nobody_else

# --- The daemon is killed ---

is_all() { [ "$(cksum <"$dir/killed")" = "$(seq 1 10000 | cksum)" ]; }
for signal in KILL ABRT; do
	rm -f "$dir/killed" "$dir/all-said"
	config <<-END
	[load]
	command = sh -c 'read -r go <$dir/lines; seq 1 10000; echo >$dir/all-said; exec $helpers/idle'
	log = file:$dir/killed
	log-size = infinity
	END
	start_daemon
	wait_for 10 logger_is_there || die "there is a logger"
	pid=$(logger)
	kill -STOP "$pid"
	wait_for 10 is_stopped "$pid" || die "the logger is suspended"
	echo >"$dir/lines"
	ok "without a logger the pipe has the lines" wait_for 10 test -e "$dir/all-said"
	kill "-$signal" "$daemon"
	if [ $signal = KILL ]; then
		ok "the daemon ends by SIGKILL" wait_for 10 is_zombie_or_gone "$daemon"
		wait "$daemon" 2>/dev/null
	else
		ok "the daemon goes on after SIGABRT" wait_for 10 says "$log" 'fault: SIGABRT'
	fi
	kill -CONT "$pid"
	ok "after that they are written" wait_for 20 is_all
	pkill -KILL -x idle
	ok "and the logger ends when its pipes have no writer" wait_for 20 is_zombie_or_gone "$pid"
done
stop_daemon

config <<END
[echo]
command = sh -c 'while read -r line; do echo "\$line"; done <>$dir/lines'
log = file:$dir/lives-on
[other]
command = $helpers/idle
END
start_daemon
echo before >"$dir/lines"
wait_for 10 says "$dir/lives-on" '^before$' || die "the service writes"
pid=$(logger)
echo=$(pid_of echo)
other=$(pid_of other)
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
for line in one two three; do
	echo "$line" >"$dir/lines"
	ok "without a daemon line $line is written" wait_for 10 says "$dir/lives-on" "^$line\$"
done
end_process "$other"
echo four >"$dir/lines"
ok "also when another service has ended" wait_for 10 says "$dir/lives-on" '^four$'
ok "the service lives on" kill -0 "$echo"
ok "and so does the logger" kill -0 "$pid"
start_daemon
wait_for 10 logger_is_there || die "the next daemon has a logger"
end_process "$echo" # unless the daemon has ended it
ok "after the last service the old logger ends" wait_for 20 is_zombie_or_gone "$pid"
stop_daemon
is "the next daemon ends as ever" "$status" 0

config <<END
[load]
command = sh -c 'read -r go <$dir/lines; seq 1 10000; echo >$dir/said-again; exec $helpers/idle'
log = file:$dir/aborted
log-size = infinity
END
start_daemon
spend_faults
wait_for 10 has_state load up || die "the service is there again"
wait_for 10 logger_is_there || die "there is a logger"
echo >"$dir/lines"
wait_for 10 test -e "$dir/said-again" || die "the lines are written"
kill -ABRT "$daemon"
wait_for 10 is_zombie_or_gone "$daemon" || die "the daemon ends"
wait "$daemon" 2>/dev/null
is "a daemon with too many faults waits for the last line" "$(cksum <"$dir/aborted")" "$(seq 1 10000 | cksum)"

# --- Without the program ---

config <<END
[one]
command = $dir/says-last one $dir/never
log = file:$dir/direct
[two]
command = $dir/says-last two $dir/never
log = file:$dir/direct
END
: >"$log"
SWANSONG_LOGGER=/nonexistent start_daemon
ok "services write to their files" wait_for 10 says "$dir/direct" 'first of two'
wait_for 10 says "$dir/direct" 'first of one' || die "each service writes"
is "there is one warning" "$(grep -c 'logger: cannot run /nonexistent: No such file' "$log")" 1
stop_daemon
ok "the end is as ever" says "$dir/direct" "^last of one$"

# --- A full disk ---

mkdir "$dir/disk"
mount -t tmpfs -o size=1m tmpfs "$dir/disk" || skip_all "machine: refuses to mount"
cleanup_fn umount "$dir/disk"
config <<END
[flood]
command = sh -c 'seq 1 1000000; echo >$dir/flooded; exec sed -u s/^/line:/ <>$dir/lines'
log = file:$dir/disk/flood
log-size = infinity
[held]
command = sh -c 'seq 1 200000; echo >$dir/held-said; exec $dir/says-last held $dir/never'
log = file:$dir/disk/held
stop-timeout = 1s
autostart = no
END
: >"$log"
start_daemon
ok "the service is never held up" wait_for 30 test -s "$dir/flooded"
ok "the log names the file" wait_for 10 says "$log" 'flood: log: cannot write .*/flood: No space left'
ctl start held >/dev/null || die "held is up"
wait_for 10 test -e "$dir/held-said" || die "held has written"
ok "a stop does not wait for longer than its timeout" ctl stop held --timeout 60s
ok "and logs the missing bytes" says "$log" 'held: log: the last [0-9]+ bytes are not in'
like "status shows the lost lines" "$(ctl status flood 2>&1)" 'lost: +[0-9]+ lines \([0-9]+ bytes\) of its log'
mount -o remount,size=32m tmpfs "$dir/disk"
ok "with room it is written again" wait_for 20 says "$log" 'flood: log: .* is written again: [0-9]+ lines'
echo end >"$dir/lines"
ok "with the last line" wait_for 10 says "$dir/disk/flood" '^line:end$'
dropped=$(sed -n 's/.*flood: log: .* is written again: \([0-9]*\) lines.*/\1/p' "$log" | awk '{ n += $1 } END { print n }')
is "each line is there or counted as lost" \
	"$(($(grep -Ec '^[0-9]+$' "$dir/disk/flood") + dropped))" 1000000
ok "some were dropped" test "$dropped" -gt 0
stop_daemon 20
ok "no process is left" wait_for 10 nobody_else
finish
