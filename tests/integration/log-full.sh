#!/bin/bash
# A log that cannot be written, and a logger that does not answer: with log-full = drop a stop, a restart and
# the end of the daemon take a second longer, not the whole budget, and the loss is logged once.
. "${0%/*}/lib.sh"

mkfifo "$dir/lines" "$dir/never"
mkdir "$dir/disk"
mount -t tmpfs -o size=256k tmpfs "$dir/disk" || skip_all "machine: refuses to mount"
cleanup_fn umount "$dir/disk"
cat >"$dir/says-last" <<-'END'
	#!/bin/bash
	trap 'seq 1 2000; echo "last of $1"; exit 0' TERM
	echo "first of $1"
	while :; do read -r -t 60 _ <>"$2"; done
END
chmod +x "$dir/says-last"
timed() { # COMMAND...: it takes $took milliseconds
	local before
	before=$(now)
	"$@" >/dev/null 2>&1
	took=$(($(now) - before))
}
losses() { grep -cE "$1: log: the last [0-9]+ bytes are not in" "$log"; } # NODE

# --- A full disk ---

config <<END
[full]
command = $dir/says-last full $dir/never
log = file:$dir/disk/full
[other]
command = $dir/says-last other $dir/never
log = file:$dir/disk/other
END
start_daemon
wait_for 10 says "$dir/disk/full" '^first of full$' || die "it writes"
wait_for 10 says "$dir/disk/other" '^first of other$' || die "the other one, too"
head -c 300000 /dev/zero >"$dir/disk/fill" 2>/dev/null
timed ctl restart full
within "a restart waits for a full disk for a second" "$took" 0 9000
is "the loss is logged, once" "$(losses full)" 1
timed stop_daemon 30
within "the end of the daemon as well" "$took" 0 9000
is "it is graceful" "$status" 0
is "each loss is logged once" "$(losses full) $(losses other)" "2 1"
rm "$dir/disk/fill"

# --- A disk that cannot be written at all ---

: >"$log"
start_daemon
wait_for 10 says "$dir/disk/full" '^first of full$' || die "it writes"
mount -o remount,ro "$dir/disk" 2>/dev/null || { umount -l "$dir/disk"; mount -t tmpfs -o ro tmpfs "$dir/disk"; }
timed stop_daemon 30
within "nor is a disk waited for that is read-only" "$took" 0 9000
mount -o remount,rw "$dir/disk"

# --- A logger that does not answer ---

config <<END
[one]
command = $dir/says-last one $dir/never
log = file:$dir/one
[two]
command = $dir/says-last two $dir/never
log = file:$dir/two
log-full = block
END
for node in one two; do
	: >"$log"
	rm -f "$dir/one" "$dir/two"
	start_daemon
	wait_for 10 says "$dir/$node" "^first of $node\$" || die "$node writes"
	pid=$(logger)
	kill -STOP "$pid"
	timed ctl stop "$node"
	within "a stop of $node replaces a logger that is suspended" "$took" 0 9000
	ok "which is killed" is_zombie_or_gone "$pid"
	ok "the last line is written by the next one" wait_for 10 says "$dir/$node" "^last of $node\$"
	is "and no loss is logged" "$(losses "$node")" 0
	stop_daemon
	is "the end is graceful" "$status" 0
done

# Suspended when the services have ended.
: >"$log"
rm -f "$dir/one"
start_daemon --log-file "$dir/own.log"
wait_for 10 says "$dir/one" "^first of one\$" || die "the service writes"
pid=$(logger)
kill -STOP "$pid"
timed stop_daemon 30
within "the end of the daemon replaces it, too" "$took" 0 9000
is "the end is graceful without a service as well" "$status" 0
ok "all lines are there" says "$dir/one" "^last of one\$"
ok "also of the daemon's own log" says "$dir/own.log" 'root: complete in'
ok "no process is left" wait_for 10 nobody_else
finish
