#!/bin/bash
# Without control groups, a process of the service's user or root whose environment claims another service is ended with
# that service, and has no other effect: its messages do not count as the service's.  One of another user has none.
. "${0%/*}/lib.sh"
requires_root
hide_cgroups
cp "$top_srcdir/tests/helpers/talker.py" "$dir/talker"

# Leaves an orphan of a session of its own that claims to be NODE's, and on each line of FIFO sends all
# that NODE could.
cat >"$dir/attack" <<'END_OF_ATTACK'
import array, os, socket, sys, time
node, folder, me = sys.argv[1:4]
fifo, done, name = folder + me, folder + me + ".done", open(folder + "address").read().strip()
if len(sys.argv) == 4:
    if os.fork() == 0:
        parent = str(os.getpid())
        if os.fork() == 0:
            os.setsid()
            words = [sys.executable, "-S", *sys.argv, parent]
            os.execve(sys.executable, words, {"SWANSONG_NODE": node})
        os._exit(0)
    os.wait()
    while True:
        os.read(os.open(fifo + ".never", os.O_RDWR), 1)
while os.getppid() == int(sys.argv[4]):
    time.sleep(0.001)
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind("")
listener.listen()
kept = []
def send(text, fds=()):
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
    link.sendmsg([text.encode()], control if fds else [])
commands = os.open(fifo, os.O_RDWR)
def count():
    with open(done, "a") as file:
        print(os.getpid(), file=file)
count()
while os.read(commands, 1):
    link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        link.connect("\0" + name[1:] if name[0] == "@" else name)
        kept.append(os.pipe())
        send("STATUS=taken over\nERRNO=1\nEXTEND_TIMEOUT_USEC=9000000")
        send("MAINPID=%d" % os.getpid())
        send("X_SWANSONG_GUARD=taken over", [kept[-1][0]])
        send("FDSTORE=1\nFDNAME=taken", [listener.fileno()])
        send("WATCHDOG=trigger")
        heard, ours = os.pipe()
        send("BARRIER=1", [ours])
        os.close(ours)
        os.read(heard, 1)
    except PermissionError:
        pass
    count()
END_OF_ATTACK

# Its main process, or a child of it, sends STATUS=… as another user.
cat >"$dir/mixed" <<'END_OF_MIXED'
import os, socket, sys
name = os.environ["NOTIFY_SOCKET"]
link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
link.connect("\0" + name[1:] if name[0] == "@" else name)
def child(text, uid=None):
    if os.fork() == 0:
        os.setsid()
        if uid is not None:
            os.setuid(uid)
        link.send(b"STATUS=" + text)
        heard, ours = os.pipe()
        socket.send_fds(link, [b"BARRIER=1"], [ours])
        os.close(ours)
        os.read(heard, 1)
        os._exit(0)
    os.wait()
for line in os.fdopen(os.open(sys.argv[1], os.O_RDWR)):
    if line == "child\n":
        child(b"by a child")
    elif line == "lesser child\n":
        child(b"by a child of another user", 65534)
    elif line == "drop\n":
        os.setuid(65534)
        link.send(b"STATUS=by itself")
    print("did " + line.strip(), flush=True)
END_OF_MIXED

python=$(PATH=/usr/bin:/bin command -v python3) || skip_all "package python3" # for any user
config <<END
[swansong]
log = inherit
[victim]
command = $python $dir/talker $dir/victim
user = nobody
notify = yes
fd-store-max = 4
[mixed]
command = $python $dir/mixed $dir/mixed-says
notify = yes
[equal]
command = $python $dir/attack victim $dir/ equal
autostart = no
user = nobody
[other]
command = $python $dir/attack victim $dir/ other
autostart = no
user = daemon
[master]
command = $python $dir/attack victim $dir/ master
autostart = no
END
for fifo in victim mixed-says equal other master; do
	mkfifo -m 666 "$dir/$fifo" "$dir/$fifo.never"
	chmod 666 "$dir/$fifo" "$dir/$fifo.never"
	: >"$dir/$fifo.done"
	chmod 666 "$dir/$fifo.done"
done
start_daemon
wait_for 10 says "$log" '^talker: begins' || die "the victim has begun"
tr '\0' '\n' <"/proc/$(pid_of victim)/environ" | sed -n 's/^NOTIFY_SOCKET=//p' >"$dir/address"
heard() { [ "$(field "$1" .service.status)" = "$2" ]; } # NODE TEXT
echo 'say STATUS=my own' >"$dir/victim"
ok "a service is heard" wait_for 10 heard victim 'my own'

# --- Orphans with the environment of another service ---------------------------------------------

has_lines() { [ "$(wc -l <"$1")" = "$2" ]; } # FILE NUMBER
attack() { # NAME
	local before
	before=$(wc -l <"$dir/$1.done")
	echo 1<>"$dir/$1"
	wait_for 10 has_lines "$dir/$1.done" $((before + 1)) || die "$1 has tried"
}
summary() {
	ctl status --json | jq -r '.nodes[] | select(.path == "victim") | .service |
		"\(.state) \(.pid) \(.restarts) \(.status) \(.error) \(.stored)"'
}
leftover() { # NODE FILE: that of the last pid in it?
	ctl guards "$1" --json | jq -r --argjson pid "$(tail -n 1 "$2")" \
		'if any(.guards[]; .kind == "leftover" and .pid == $pid) then "yes" else "no" end'
}
unharmed=$(summary)
for attacker in equal other master; do
	ctl start "$attacker" >/dev/null
	wait_for 10 has_lines "$dir/$attacker.done" 1 || die "$attacker has begun"
	attack "$attacker"
	is "$attacker: an orphan that claims to be the service's is not heard" "$(summary)" "$unharmed"
	counts=yes
	[ $attacker != other ] || counts=no
	is "it is one of its remaining processes unless it has another user: $counts" "$(leftover victim "$dir/$attacker.done")" $counts
	attack "$attacker"
	is "and not heard as that, either" "$(summary)" "$unharmed"
	is "nor does it hold a guard" "$(leases victim)" 0
done

# --- Descendants of another user -----------------------------------------------------------------

say() { # TEXT
	local before
	before=$(grep -c '^did' "$log")
	echo "$1" >"$dir/mixed-says"
	wait_for 10 did_more "$before" || die "$1"
}
did_more() { [ "$(grep -c '^did' "$log")" -gt "$1" ]; } # NUMBER
say child
ok "a child of another session is heard" wait_for 10 heard mixed 'by a child'
say 'lesser child'
is "a message of another user does not count" "$(field mixed .service.status)" 'by a child'
say drop
ok "a main process that has changed its user is" wait_for 10 heard mixed 'by itself'
say 'lesser child'
ok "and so is a child of that user then" wait_for 10 heard mixed 'by a child of another user'

# --- A daemon that leaves its session and its parent ---------------------------------------------

orphan() { sed -n 's/^talker: orphan //p' "$log" | tail -n 1; }
echo 'orphan own MAINPID=1' >"$dir/victim"
wait_for 10 says "$log" '^talker: orphan' && wait_for 10 is_stopped "$(orphan)"
echo "name $(orphan)" >"$dir/victim"
has_pid() { [ "$(pid_of "$1")" = "$2" ]; } # NODE PID
ok "the main process may name such a one as its successor" wait_for 10 has_pid victim "$(orphan)"
attacker=$(tail -n 1 "$dir/other.done")
before=$(orphan)
echo "name $attacker" >"$dir/victim"
ok "but none of another user" wait_for 10 says "$log" "victim: MAINPID=$attacker is refused"
is "which changes nothing" "$(pid_of victim)" "$before"
stop_daemon
is "the daemon ends" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
finish
