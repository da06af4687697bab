#!/bin/bash
# A logger that is slow to begin, dies at a bad moment, sends nonsense or cannot be run: no line is lost, and
# nothing waits for ever.
. "${0%/*}/lib.sh"
requires_package python3 python3

real=$SWANSONG_LOGGER
own=$dir/own.log
mkfifo "$dir/gate" "$dir/lines"

# --- It dies before it is ready ---

no_service() { ! pgrep -x idle >/dev/null; }

# Each logger waits at the gate: "run" or "die".
cat >"$dir/gated" <<END
#!/bin/bash
touch "$dir/at-gate"
read -r word <"$dir/gate"
[ "\$word" = run ] || exit 1
exec "$real" "\$@"
END
chmod +x "$dir/gated"
pass() { # WORD
	wait_for 10 test -e "$dir/at-gate" || return
	rm "$dir/at-gate"
	echo "$1" >"$dir/gate"
}

service web | config
SWANSONG_LOGGER=$dir/gated start_daemon --log-file "$own"
ctl logs -f web >"$dir/shown" 2>&1 &
showing=$!
cleanup_fn end_process "$showing"
wait_for 10 has_connections 1 || die "a reader waits for the logger"
pass die && pass die && pass die
ok "a logger that ends at once is given up" wait_for 10 says "$log" 'logger: cannot run .*: it ends at once'
ok "a reader does not wait for it" wait_for 10 gone "$showing"
stop_daemon 20
is "the end is graceful" "$status" 0

# --- It is not ready, or has died, at the daemon's end ---

rm -f "$own" "$dir/at-gate"
: >"$log"
SWANSONG_LOGGER=$dir/gated start_daemon --log-file "$own"
pass run || die "the first logger begins"
wait_for 10 says "$log" 'the log continues in' || die "the log goes to the file"
kill -KILL "$(logger)"
wait_for 10 test -e "$dir/at-gate" || die "the second logger is at the gate"
kill -TERM "$daemon"
wait_for 10 no_service || die "the service ends"
pass run
await_daemon 20
is "a logger that begins late does not spoil the end" "$status" 0
ok "it writes the last line of the log" says "$own" 'root: complete in'

# --- It sends nonsense ---

cat >"$dir/nonsense" <<END
#!/bin/bash
# A packet of another version, once.
[ -e "$dir/said" ] && exec "$real" "\$@"
touch "$dir/said"
python3 -c 'import os, struct; os.write(3, struct.pack("=4I", 99, 12, 104, 0) + bytes(88))'
exec sleep 1000
END
chmod +x "$dir/nonsense"
config <<END
[echo]
command = sh -c 'while read -r line; do echo "\$line"; done <>$dir/lines'
log = file:$dir/echo
END
SWANSONG_LOGGER=$dir/nonsense start_daemon
echo hello >"$dir/lines"
ok "a logger of another version is replaced" wait_for 10 says "$dir/echo" '^hello$'
stop_daemon
is "the end is graceful with that, too" "$status" 0

# --- Its program does not run yet ---

cp "$real" "$dir/leased-logger"
lease_file "$dir/leased-logger"
: >"$log"
SWANSONG_LOGGER=$dir/leased-logger start_daemon
ok "its program does not run yet" wait_for 10 says "$dir/leased" waits
began=$(now)
ok "the daemon answers" timeout 20 "$swansongctl" status echo
within "at once" $(($(now) - began)) 0 5000
ok "a logger that takes no message for ten seconds is killed" \
	wait_for 20 says "$log" 'logger: does not answer: killed'
end_process "$leasing"
echo again >"$dir/lines"
ok "another one writes all output" wait_for 20 says "$dir/echo" '^again$'
stop_daemon
is "the end is graceful with that, too" "$status" 0

# --- The disk is full when a run ends ---

mkdir "$dir/disk"
mount -t tmpfs -o size=256k tmpfs "$dir/disk" || { skip "a full disk" "machine: refuses to mount"; finish; }
cleanup_fn umount "$dir/disk"
config <<END
[once]
command = sh -c 'read -r go <$dir/lines; echo said'
type = oneshot
log = file:$dir/disk/once
END
start_daemon
wait_for 10 test -e "$dir/disk/once" || die "the file is there before the first line"
head -c 300000 /dev/zero >"$dir/disk/fill" 2>/dev/null
ends_soon() {
	local before
	before=$(now)
	echo go >"$dir/lines"
	wait_for 10 has_state once "done" || die "the run ends"
	took=$(($(now) - before))
	[ "$took" -le 900 ]
}
runs_again() { ctl restart --no-wait once >/dev/null && wait_for 10 has_state once starting; }
# The wait would be a second, at each end; a busy machine may need as long, but not each time.
for _ in {1..4}; do
	if ends_soon; then break; fi
	runs_again || die "the service runs again"
done
[ "$took" -le 900 ] || ends_soon
within "the end of a run does not wait for a file that cannot be written" "$took" 0 900
rm "$dir/disk/fill"
ok "its line comes when there is room" wait_for 10 says "$dir/disk/once" '^said$'
stop_daemon
ok "no process is left" wait_for 10 nobody_else
finish
