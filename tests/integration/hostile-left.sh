#!/bin/bash
# The next swansongd takes a socket of listen from a process that an earlier one has left: never from one of another
# service, of another user, whatever its environment claims, or of another network.
. "${0%/*}/lib.sh"
requires_root
. "${0%/*}/cgroup-lib.sh"
python=$(PATH=/usr/bin:/bin command -v python3) || skip_all "package python3" # for any user

# Listens at 127.0.0.1:7000, and greets each client in its own way.
cat >"$dir/rival.py" <<'END_OF_PROGRAM'
import os, socket, sys
while True:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", 7000))
        break
    except OSError:
        open(sys.argv[1]).read()
listener.listen()
print("rival listens", flush=True)
while True:
    link, _ = listener.accept()
    link.sendall(b"rival\n")
    link.close()
END_OF_PROGRAM
# The service, which gets the socket.
cat >"$dir/web.py" <<'END_OF_PROGRAM'
import socket
listener = socket.socket(fileno=3)
while True:
    link, _ = listener.accept()
    link.sendall(b"web\n")
    link.close()
END_OF_PROGRAM
greeting() {
	local line=
	if exec 8<>/dev/tcp/127.0.0.1/7000; then
		read -t 5 -r line <&8
		exec 8>&-
	fi
	echo "$line"
}
next_daemon() {
	end_process "$daemon"
	: >"$log"
	start_daemon
}

# --- Another service ---

# In a network of their own its programs have the same address, and one in the network of the service gets it when it
# is free.
mkfifo -m 666 "$dir/free"
config <<END
$(for i in {1..4}; do
	echo "[box-$i]"
	echo "command = unshare --net sh -c 'ip link set lo up; exec $python $dir/rival.py $dir/free'"
	echo "stop-signal = KILL"
done)
[web]
command = $python $dir/web.py
listen = tcp:127.0.0.1:7000
requires = box-1 box-2 box-3 box-4
restart-delay = 10ms
END
start_daemon
ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
are_listening() { [ "$(grep -c 'rival listens' "$log")" = "$1" ]; } # NUMBER
wait_for 10 are_listening 4 || die "the others listen"
is "a client reaches the service" "$(greeting)" web
next_daemon
ok "the next daemon starts" ctl wait --for ready --timeout 60s
is "a client reaches the service, and no socket of another network" "$(greeting)" web
stop_daemon

config <<END
[rival]
command = $python $dir/rival.py $dir/free
user = nobody
[web]
command = $python $dir/web.py
listen = tcp:127.0.0.1:7000
restart-delay = 10ms
END
start_daemon
ctl wait --for ready --timeout 60s >/dev/null || die "both are up"
: >"$log"
web=$(pid_of web)
rival=$(pid_of rival)
end_process "$daemon"
end_process "$web"
wait_for 5 gone "$web" || die "the service has lost its address"
echo >"$dir/free" &
cleanup_fn end_process $!
wait_for 10 are_listening 1 || die "the other service has the address"
start_daemon
ok "a daemon does not take it for the service that has lost it" says "$log" 'web.* opened at the start'
ok "the other service is stopped" wait_for 10 gone "$rival"
ok "and the service starts again when its address is free" wait_for 10 has_state web up
is "a client reaches it" "$(greeting)" web
stop_daemon

# --- A process with a file of which no copy can be closed ---

# The process with the file is older than the one with the socket.
mkdir -m 777 "$dir/mnt"
cat >"$dir/both" <<'END_OF_PROGRAM'
import os, signal, subprocess, sys
holder = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE)
said = holder.stdout.readline().decode()
if os.fork() == 0:
    os.execv(sys.executable, [sys.executable, sys.argv[1]])
os.close(3)
print(said, end="", flush=True)
signal.pause()
END_OF_PROGRAM
config <<END
[web]
command = $python $dir/both $dir/web.py $helpers/fuse-sender $dir/fuse $dir/mnt none datagram none hold
listen = tcp:127.0.0.1:7000
user = nobody
stop-signal = KILL
END
if mknod -m 666 "$dir/fuse" c 10 229 2>/dev/null && start_daemon && wait_for 10 says "$log" 'sent$'; then
	next_daemon
	ok "the next daemon does not wait for it" timeout 10 "$swansongctl" wait --for ready --timeout 9s
	is "and has the socket" "$(greeting)" web
	stop_daemon
else
	skip "the next daemon does not wait for it" "machine: no FUSE"
	stop_daemon
fi

# --- Another user, without control groups ---

remove_cgroup
hide_cgroups
swansongd=$top_builddir/swansongd
config <<END
[web]
command = $python $dir/web.py
listen = tcp:127.0.0.1:7000
END
SWANSONG_DAEMON=$socket SWANSONG_NODE=web \
	setpriv --reuid=65534 --regid=65534 --clear-groups "$python" "$dir/rival.py" "$dir/free" >"$dir/other" &
other=$!
cleanup_fn end_process "$other"
wait_for 10 says "$dir/other" listens || die "the other user listens"
: >"$log"
launch "$swansongd" -v -c "$ini" --socket "$socket"
await_daemon 10
is "a socket of another user is not taken, so the start fails" "$status" 1
ok "as with any address in use" says "$log" 'cannot listen on tcp:127.0.0.1:7000: Address already in use'
is "it has its clients" "$(greeting)" rival
end_process "$other"
finish
