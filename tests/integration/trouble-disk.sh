#!/bin/bash
# The disk is full under the log of a service, and under the daemon's own; and the pipe of the daemon's log is
# full, or has no reader.
. "${0%/*}/lib.sh"

mkdir "$dir/disk"
mount -t tmpfs -o size=64k tmpfs "$dir/disk" || skip_all "machine: refuses to mount"
cleanup_fn umount "$dir/disk"
fill() { ! dd if=/dev/zero of="$dir/disk/filler" bs=4k 2>/dev/null; }

# --- Under the log of a service ---

cat >"$dir/writer" <<-'END'
	#!/bin/bash
	# Writes each line that it reads to the log, and the result to a file.
	while read -r line; do
		echo "$line" 2>/dev/null && echo said >>"$2" || echo lost >>"$2"
	done <>"$1"
END
chmod +x "$dir/writer"
mkfifo "$dir/lines"
config <<END
[writer]
command = $dir/writer $dir/lines $dir/answers
log = file:$dir/disk/log
[later]
command = $helpers/idle
log = file:$dir/disk/later
restart = never
autostart = no
END
start_daemon
answers() { says "$dir/answers" "^$1$"; }
echo first >"$dir/lines"
ok "a line is written" wait_for 10 answers said
ok "the disk is full" fill
: >"$dir/answers"
seq 5000 >"$dir/lines"
all_answered() { [ "$(wc -l <"$dir/answers")" -ge 5000 ]; }
ok "lines that cannot be written hold up no service" wait_for 20 all_answered
is "nor does the service get an error" "$(sort -u "$dir/answers")" said
ok "the log names the file" wait_for 10 says "$log" 'writer: log: cannot write .*/disk/log: No space left'
is "the service is up" "$(field writer .service.restarts) $(state writer)" "0 up"
ok "status is answered" ctl status --timeout 60s
ctl start later >/dev/null 2>&1
like "another with a log there is started or tried again" "$(state later)" 'up|backoff|starting'
rm "$dir/disk/filler"
: >"$dir/answers"
echo last >"$dir/lines"
ok "with room there are lines again" wait_for 10 says "$dir/disk/log" '^last$'
is "of all that came meanwhile none is missing" "$(cksum <"$dir/disk/log")" \
	"$({ echo first; seq 5000; echo last; } | cksum)"
ok "and the end of the shortage is logged" wait_for 10 says "$log" 'writer: log: .* is written again: 0 lines'
ok "and the other is up" wait_for 10 has_state later up
ok "a restart is as ever" ctl restart writer --timeout 60s
stop_daemon
is "so is the end" "$status" 0

# --- With little room ---

mkdir "$dir/narrow"
mount -t tmpfs -o size=600k tmpfs "$dir/narrow"
cleanup_fn umount "$dir/narrow"
config <<END
[burst]
command = sh -c 'read -r go <$dir/lines; seq 100001 220000; exec $helpers/idle'
log = file:$dir/narrow/log
END
start_daemon
ok "a log is made" wait_for 10 test -e "$dir/narrow/log"
dd if=/dev/zero of="$dir/narrow/filler" bs=4k 2>/dev/null
echo go >"$dir/lines"
ok "no line of a burst fits" wait_for 10 says "$log" 'burst: log: cannot write .*/narrow/log: No space left'
rm "$dir/narrow/filler"
is_full() { [ "$(stat -c %s "$dir/narrow/log")" -gt 600000 ]; }
ok "as many lines as fit are written at once" wait_for 10 is_full
kill -KILL "$(logger)"
is "none is missing, or in two parts" "$(cksum <"$dir/narrow/log")" \
	"$(seq 100001 220000 | head -n "$(wc -l <"$dir/narrow/log")" | cksum)"
mount -o remount,size=2m tmpfs "$dir/narrow"
has_all() { [ "$(cksum <"$dir/narrow/log")" = "$(seq 100001 220000 | cksum)" ]; }
ok "with room the others are" wait_for 10 has_all
stop_daemon

# --- With little room for the output of the daemon ---

launch_into() { # FILE
	"$swansongd" -v -c "$ini" --socket "$socket" >>"$1" 2>&1 </dev/null &
	daemon=$!
	cleanup_fn end_process "$daemon"
	wait_for 10 ctl status >/dev/null 2>&1 || die "swansongd answers"
}
rm "$dir/narrow"/*
mount -o remount,size=600k tmpfs "$dir/narrow"
config <<END
[burst]
command = sh -c 'read -r go <$dir/lines; seq 100001 220000; exec $helpers/idle'
log-format = plain
END
launch_into "$dir/narrow/own"
echo go >"$dir/lines"
has_little_room() { [ "$(stat -f -c %a "$dir/narrow")" -le 2 ]; }
ok "the file of the daemon's output fills the disk" wait_for 10 has_little_room
mount -o remount,size=2m tmpfs "$dir/narrow"
has_last() { says "$dir/narrow/own" '^220000$'; }
ok "with room the last line is there" wait_for 10 has_last
is "and each once" "$(grep -cE '^[0-9]{6}$' "$dir/narrow/own") $(grep -oE '^[0-9]{6}$' "$dir/narrow/own" | sort -u | wc -l)" \
	"120000 120000"
stop_daemon

# --- Under the daemon's own ---

config <<END
[crash]
command = $helpers/crasher 1
restart-delay = 1ms
restart-delay-max = 1ms
restart-limit = none
log = null
[idle]
command = $helpers/idle
END
launch_into "$dir/disk/own"
ok "the daemon writes its log" wait_for 10 says "$dir/disk/own" 'crash: started'
ok "the disk is full" fill
before=$(field crash .service.restarts)
ok "services are started again all the same" wait_for 60 has_restarts crash $((before + 300))
ok "and can be stopped" ctl stop idle --timeout 60s
: >"$dir/disk/own" # as much room as its contents had
ok "with room it logs the number of lost lines" wait_for 20 says "$dir/disk/own" '[0-9]+ lines of this log were lost'
ok "the disk is full again" fill
stop_daemon 20
is "it ends without a word, but well" "$status" 0
rm -f "$dir/disk"/*

# --- A pipe that is not read, and one without a reader ---

mkfifo "$dir/pipe"
exec 9<>"$dir/pipe"
# The pipe is full before the daemon starts.
timeout 1 dd if=/dev/zero bs=4k oflag=nonblock >&9 2>/dev/null
launch_into "$dir/pipe"
before=$(field crash .service.restarts)
ok "services run when its pipe is full from the beginning" wait_for 20 has_restarts crash $((before + 100))
kill -USR1 "$daemon" # the whole tree, at once
ok "status is answered" ctl status --timeout 60s
stop_daemon 20
is "and it ends" "$status" 0

timeout 1 dd of=/dev/null bs=64k iflag=nonblock <&9 2>/dev/null
launch_into "$dir/pipe"
exec 9>&-
before=$(field crash .service.restarts)
ok "services run when the pipe has no reader" wait_for 20 has_restarts crash $((before + 100))
stop_daemon 20
is "and it ends" "$status" 0

launch_into /dev/full
ok "services run when it never had room" wait_for 20 has_restarts crash 100
stop_daemon 20
is "and it ends" "$status" 0
"$swansongd" -v --socket none -- sh -c 'exit 3' 2>&- </dev/null
is "or when it has none at all" "$?" 3
ok "nothing is left" wait_for 10 nobody_else
finish
