#!/bin/bash
# Messages of another user, and a descriptor whose close waits for its sender, do not hang the daemon;
# a flood of messages takes a share of it.
. "${0%/*}/lib.sh"
requires_root
requires_package setpriv util-linux
requires_package python3 python3
outsider=(setpriv --reuid 65534 --regid 65534 --clear-groups)

fuse=$dir/fuse
mknod -m 666 "$fuse" c 10 229 2>/dev/null || skip_all "machine: makes no device nodes"
mkdir -m 777 "$dir/mnt" "$dir/probe"
unshare --mount "$helpers/fuse-sender" "$fuse" "$dir/probe" "$dir/nowhere" datagram x >"$dir/can" 2>&1 &
wait_for 10 test -s "$dir/can"
! says "$dir/can" '^(mount|unshare|/.*fuse):' || skip_all "machine: no FUSE ($(cat "$dir/can"))"

# The file's server runs until the attack is over.
attack() { # ADDRESS TYPE MESSAGE
	"${outsider[@]}" "$helpers/fuse-sender" "$fuse" "$dir/mnt" "$@" >"$dir/attack" 2>&1 &
	attacker=$!
	cleanup_fn end_process "$attacker"
	wait_for 10 test -s "$dir/attack"
	comment <"$dir/attack"
}
end_attack() {
	end_process "$attacker"
	rm "$dir/attack"
}
address_of() { tr '\0' '\n' <"/proc/$(pid_of "$1")/environ" | sed -n 's/^NOTIFY_SOCKET=//p'; }
heard() { [ "$(field "$1" .service.status)" = "$2" ]; } # NODE STATUS
ticks() { awk '{ print $14 + $15 }' "/proc/$daemon/stat"; }
answers() { timeout 60 "$swansongctl" status >/dev/null; }

# It has no program of its own.
is_closing() { pgrep -P "$daemon" -x swansong-close; }

cat >"$dir/say" <<'END'
import os, signal, socket, sys
link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
link.connect(os.environ["NOTIFY_SOCKET"])
while True:
    link.send(b"STATUS=" + "".join(sys.argv[1:]).encode())
    if sys.argv[1:]:
        signal.pause()
END
# As servers that begin as root; the last message is that of the main process.
cat >"$dir/two" <<'END'
import os, signal, socket
os.setresuid(65534, 65534, 65534)
link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
link.connect(os.environ["NOTIFY_SOCKET"])
link.send(b"STATUS=main")
sent = os.pipe()
if os.fork() == 0:
    link.send(b"STATUS=child")
    os.write(sent[1], b".")
    signal.pause()
os.read(sent[0], 1)
link.send(b"READY=1")
signal.pause()
END
# A descriptor where none is expected: to the socket of an attached program.
cat >"$dir/pass" <<'END'
import os, signal, socket, sys
link = socket.socket(fileno=int(os.environ["SWANSONG_ATTACH"].split(":")[1]))
try:
    socket.send_fds(link, [b"ATTACHED"], [2])
    said = "sent"
except PermissionError:
    said = "refused"
with open(sys.argv[1], "w") as f:
    f.write(said)
signal.pause()
END
# On a busy machine it would be no flood.
soon=
[ -n "$(nice -n -20 true 2>&1)" ] || soon='nice = -20'
switches() { awk '/ctxt_switches/ { n += $2 } END { print n }' "/proc/$daemon/status"; }
config <<END
[swansong]
control-mode = 0666
$(service web 'notify = yes')
[own]
command = $helpers/fuse-sender $fuse $dir/mnt - datagram FDSTORE=1
user = nobody
autostart = no
notify = yes
fd-store-max = 5
stop-timeout = 1s
[flood]
command = /usr/bin/python3 $dir/say
$soon
autostart = no
notify = yes
[program]
command = /usr/bin/python3 $dir/pass $dir/passed
attach = yes
autostart = no
[changes]
command = setpriv --reuid 65534 --clear-groups /usr/bin/python3 $dir/say changed
autostart = no
restart = never
notify = yes
notify-user = nobody
[main]
command = /usr/bin/python3 $dir/two
autostart = no
ready = notify
notify-access = main
[all]
command = /usr/bin/python3 $dir/two
autostart = no
ready = notify
notify-access = all
[shut]
command = $helpers/idle
user = daemon
autostart = no
notify = yes
notify-access = main
END
start_daemon
attack "$(address_of web)" datagram READY=1
like "an outsider does not reach the socket of a service" "$(cat "$dir/attack")" '^connect: Permission denied'
ok "the daemon answers" answers
end_attack

attack "$socket" stream '{"method":"io.swansong.Status"}'
# From Linux 6.16 on the kernel refuses it.
like "an outsider sends one to the control socket" "$(cat "$dir/attack")" '^(sent|sendmsg: Operation not permitted)$'
ok "the daemon answers after a call with a descriptor" answers
end_attack

ctl start own >/dev/null
ok "a service sends such a file itself" wait_for 10 says "$log" '^own +\| sent'
ok "the descriptor is refused by name" wait_for 10 says "$log" 'own: a descriptor is refused: not a socket'
ok "the daemon answers after that" answers
is "nothing is stored" "$(field own .service.stored)" null
ok "a process of its own closes it" wait_for 10 is_closing

# --- The messages of a service ---------------------------------------------------------------------

ctl start changes --no-wait
ok "a service that changes its user is heard as its notify-user" wait_for 10 heard changes changed

ok "notify-access = main: a service is heard as any user" ctl start main
ok "and with notify-access = all, too" ctl start all
is "main: messages of other processes are dropped" "$(field main .service.status)" main
is "all: each process of the service is heard" "$(field all .service.status)" child
attack "$(address_of main)" datagram READY=1
is "an outsider reaches the socket of such a service" "$(cat "$dir/attack")" sent
ok "and hangs nothing" answers
end_attack
ctl start shut
is "but not of one that cannot change its user" "$(stat -c %a "$(address_of shut)")" 600

ctl start program >/dev/null
ok "an attached program sends a descriptor" wait_for 10 test -s "$dir/passed"
comment <"$dir/passed"
# A child that closes the descriptor may still end.
is_idle() { before=$(switches) && ! wait_for 1 false && [ "$(($(switches) - before))" = 0 ]; }
ok "which leaves the daemon idle" wait_for 20 is_idle

ctl start flood >/dev/null
ok "a flood is named" wait_for 60 says "$log" 'flood: a flood of messages is refused: further messages'
before=$(ticks) began=$(now)
ok "other services start meanwhile" ctl restart web
wait_for 2 false
spent=$(($(ticks) - before)) whole=$((($(now) - began) / 10))
comment <<<"$spent of $whole ticks for the flood"
ok "and most of the processor is free" test $((spent * 10)) -lt $((whole * 6))
stop_daemon
is "the daemon ends" "$status" 0

# --- Without a directory ---------------------------------------------------------------------------

# Without a directory the name of the socket is abstract, and every user reaches it.
mount -t tmpfs -o ro tmpfs /run
start_daemon
like "without a directory the socket is abstract" "$(address_of web)" '^@'
attack "$(address_of web)" datagram READY=1
is "an outsider reaches it" "$(cat "$dir/attack")" sent
ok "and hangs nothing" answers
end_attack
stop_daemon
is "the daemon ends then as well" "$status" 0
finish
