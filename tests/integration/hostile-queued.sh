#!/bin/bash
# A service passes the daemon a UNIX socket, in the queue of which is the last copy of a TCP socket that waits when it is
# closed: whenever the daemon closes the one, it does not wait for the other.
. "${0%/*}/lib.sh"
requires_root
python=$(PATH=/usr/bin:/bin command -v python3) || skip_all "package python3" # for any user

# For each line of FIFO: passes such a socket, and closes its own copies.
cat >"$dir/attack" <<'END_OF_ATTACK'
import os, signal, socket, struct, sys
listener = socket.create_server(("127.0.0.1", 0))
address = os.environ["NOTIFY_SOCKET"]
address = "\0" + address[1:] if address[0] == "@" else address
def send(text, fds=()):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as link:
        link.connect(address)
        socket.send_fds(link, [text.encode()], list(fds))
def barrier():
    heard, ours = os.pipe()
    send("BARRIER=1", [ours])
    os.close(ours)
    os.read(heard, 1)
    os.close(heard)
def make():
    full = socket.create_connection(listener.getsockname())
    peers.append(listener.accept()[0])
    full.setblocking(False)
    try:
        while True:
            full.send(bytes(65536))
    except BlockingIOError:
        pass
    full.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
    passed, other = socket.socketpair()
    socket.send_fds(other, [b"x"], [full.fileno()])
    full.close()
    return passed, other
peers = []
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("begins", flush=True)
for line in os.fdopen(os.open(sys.argv[1], os.O_RDWR)):
    passed, other = make()
    kind = line.strip()
    send({
        "message": "STATUS=with a descriptor",
        "guard": "X_SWANSONG_GUARD=never",
        "stored": "FDSTORE=1\nFDNAME=it\nFDPOLL=0",
        "kept": "FDSTORE=1\nFDNAME=kept\nFDPOLL=0",
    }[kind], [passed.fileno()])
    if kind != "message":
        barrier()
    passed.close()
    other.close()
    if kind == "stored":
        send("FDSTOREREMOVE=1\nFDNAME=it")
    print("did " + kind, flush=True)
END_OF_ATTACK
mkfifo -m 666 "$dir/fifo"
answers() { timeout 60 "$swansongctl" status >/dev/null; }
has_one_process() { [ "$(pgrep -cx swansongd)" = 1 ]; }
begin() {
	service web | config
	cat >>"$ini" <<-END
		[hostile]
		command = $python $dir/attack $dir/fifo
		user = nobody
		notify = yes
		fd-store-max = 4
		stop-timeout = 1h
	END
	: >"$log"
	start_daemon
	wait_for 10 says "$log" begins || die "the service has begun"
}
attack() { # KIND
	echo "$1" >"$dir/fifo"
	wait_for 10 says "$log" "did $1" || die "$1: the attack is done"
}
end() { # NAME
	ok "$1: the daemon answers" answers
	ok "$1: no process waits for ever" wait_for 10 has_one_process
	pkill -KILL -f "$dir/attack"
	stop_daemon
	is "$1: the end comes" "$status" 0
	pkill -KILL -u nobody
	pkill -KILL -x idle
}

# It stands still until it has the only copy.
begin
kill -STOP "$daemon"
attack message
kill -CONT "$daemon"
end "a descriptor of no use"
begin
attack guard
end "a guard that ends"
begin
attack stored
end "a stored descriptor that is removed"

# The service that has stored it is removed, and has not ended yet.
begin
attack kept
service web | config
"$swansongctl" reload >/dev/null 2>&1 &
reloading=$!
wait_for 10 has_state hostile stopping || die "the service is being removed"
kill -SEGV "$daemon"
wait_for 10 has_faults 1 || die "the fault is reported"
wait "$reloading"
wait_for 5 answers
end "a fault, and a stored descriptor of no service"
finish
