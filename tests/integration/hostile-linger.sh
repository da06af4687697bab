#!/bin/bash
# A TCP socket that waits at its last close, passed to the sockets of the daemon and of the exporter, hangs neither;
# with a kernel that refuses descriptors, and with one that does not.
. "${0%/*}/lib.sh"
. "${0%/*}/preload-lib.sh"
requires_package python3 python3

# Bytes that are never read wait in the socket.  Its last copy is in the message.
cat >"$dir/send" <<'END'
import signal, socket, struct, sys
listener = socket.create_server(("127.0.0.1", 0))
full = socket.create_connection(listener.getsockname())
peer = listener.accept()[0]
full.setblocking(False)
try:
    while True:
        full.send(bytes(65536))
except BlockingIOError:
    pass
full.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1])
for text in sys.argv[3:]:
    link.send(text.encode())
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", full.fileno()))]
try:
    link.sendmsg([b"x"], rights, socket.MSG_OOB if sys.argv[2] != "normal" else 0)
    if sys.argv[2] == "passed-over":
        link.send(b"{")
    full.close()
    print("sent", flush=True)
except PermissionError:
    print("refused", flush=True) # its own close would wait
signal.pause()
END
# The process that is attacked stands still until the descriptor is queued.
attack() { # PID SOCKET normal|urgent|passed-over [BYTES-BEFORE]
	kill -STOP "$1"
	python3 "$dir/send" "${@:2}" >"$dir/sent" 2>&1 &
	attacker=$!
	cleanup_fn end_process "$attacker"
	wait_for 20 test -s "$dir/sent"
	kill -CONT "$1"
}
end_attack() {
	end_process "$attacker"
	rm "$dir/sent"
}
answers() { timeout 60 "$swansongctl" status >/dev/null; }
reply() { # of the agent to a client whose line is there before the daemon looks
	python3 - "$dir/agent" "$daemon" <<-'PYTHON'
		import os, signal, socket, sys
		os.kill(int(sys.argv[2]), signal.SIGSTOP)
		link = socket.socket(socket.AF_UNIX)
		link.settimeout(20)
		link.connect(sys.argv[1])
		link.send(b"hello\n")
		os.kill(int(sys.argv[2]), signal.SIGCONT)
		print(link.makefile().read(), end="")
	PYTHON
}
attack_daemon() { # KERNEL WANT
	for kind in normal urgent passed-over; do
		attack "$daemon" "$dir/agent" $kind
		is "$1: a descriptor to an agent ($kind)" "$(cat "$dir/sent")" "$2"
		ok "the daemon answers" answers
		end_attack
		is "the agent replies after it" "$(reply)" 'up ready'
		attack "$daemon" "$socket" $kind
		is "$1: a descriptor to the control socket ($kind)" "$(cat "$dir/sent")" "$2"
		ok "the daemon answers" answers
		end_attack
	done
	attack "$daemon" "$socket" normal '{"method":'
	is "$1: a descriptor behind bytes of a call" "$(cat "$dir/sent")" "$2"
	ok "the daemon answers" answers
	end_attack
	attack "$daemon" "$dir/agent" normal
	stop_daemon
	is "the daemon ends meanwhile" "$status" 0
	end_attack
}

# Neither a reload nor the end of the daemon waits for connections that the service has not accepted.
attack_service() {
	for goal in "the reload" "the end"; do
		attack "$daemon" "$dir/service" normal
		is "a descriptor to the socket of a service" "$(cat "$dir/sent")" sent
		if [ "$goal" = "the reload" ]; then
			sed -i '/^\[late\]/,$d' "$ini"
			ok "$goal without it is done" timeout 60 "$swansongctl" reload
			ok "the daemon answers" answers
			cp "$dir/whole" "$ini"
			ok "the service is back" timeout 60 "$swansongctl" reload
		else
			stop_daemon
			is "$goal of the daemon comes" "$status" 0
		fi
		end_attack
	done
}

config <<END
[web]
command = $helpers/idle
drain-delay = 1ms
agent = unix:$dir/agent
[late]
command = $helpers/idle
autostart = no
listen = unix:$dir/service
END
cp "$ini" "$dir/whole"

if [ -n "$lack" ]; then
	skip "a kernel that passes descriptors on" "$lack"
else
	: >"$faults/old"
	start_preloaded
	ctl wait --for ready web
	attack_daemon old sent
fi

start_daemon
ctl wait --for ready web
attack_service

if ! python3 -c 'import socket; socket.socket(socket.AF_UNIX).setsockopt(socket.SOL_SOCKET, 83, 0)' 2>/dev/null; then
	skip "a kernel that refuses descriptors" "machine: no SO_PASSRIGHTS (Linux 6.16)"
	finish
	exit
fi
start_daemon
ctl wait --for ready web
attack_daemon new refused

# --- The exporter ----------------------------------------------------------------------------------

if [ ! -x "$top_builddir/swansong-exporter" ] || ! command -v curl >/dev/null; then
	skip "the exporter refuses descriptors" "package libmicrohttpd-dev, curl"
else
	start_daemon
	"$(program swansong-exporter)" --socket "$socket" --listen "unix:$dir/exporter" >"$dir/exporter.log" 2>&1 &
	exporter=$!
	cleanup_fn end_process "$exporter"
	is_healthy() { curl -s --max-time 5 --unix-socket "$dir/exporter" http://localhost/healthz >/dev/null; }
	ok "the exporter answers" wait_for 20 is_healthy
	attack "$exporter" "$dir/exporter" normal
	is "a descriptor to the exporter" "$(cat "$dir/sent")" refused
	ok "it answers" is_healthy
	end_attack
	end_process "$exporter"
	stop_daemon
fi
finish
