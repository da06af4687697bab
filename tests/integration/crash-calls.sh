#!/bin/bash
# A fault of the daemon at any moment of a call: the client gets one reply, or an error, or the connection is closed; the
# next call on the connection gets its own reply.
. "${0%/*}/lib.sh"
requires_package strace strace
requires_package python3 python3

service web | config
start_daemon
ctl wait --for ready --timeout 60s >/dev/null || die "all are up"

cat >"$dir/client" <<'END'
import json
import select
import socket
import sys


def replies(client, text, least):
    client.sendall(text)
    got = b""
    while got.count(b"\0") < least:
        more = client.recv(65536)
        if not more:
            return None
        got += more
    return [json.loads(text) for text in got.split(b"\0")[:-1]]


client = socket.socket(socket.AF_UNIX)
client.settimeout(10)
client.connect(sys.argv[1])
call = b'{"method":"io.swansong.%s"}\0'
print("connected", flush=True)
sys.stdin.readline()
try:
    first = replies(client, call % b"Status", 1)
    second = first and replies(client, call % b"Guards", 1)
except ConnectionError:
    first = second = None
if first is None or second is None:
    print("closed")
elif len(first) != 1 or len(second) != 1 or "guards" not in second[0].get("parameters", {}):
    print("wrong:", [list(reply) for reply in first], [list(reply.get("parameters", reply)) for reply in second])
else:
    print("error" if "error" in first[0] else "reply")
END
traced() { ! says "/proc/$daemon/status" '^TracerPid:[[:space:]]0$'; }
mkfifo "$dir/go"
hits=0
for k in 1 2 3 4 5 6; do
	# Five faults within a minute are survived: each trial has a daemon of its own.
	: >"$log"
	python3 "$dir/client" "$socket" <"$dir/go" >"$dir/out" &
	client=$!
	exec 9>"$dir/go"
	wait_for 10 says "$dir/out" connected || die "a client is connected"
	wait_for 10 has_connections 1 || die "and accepted"
	strace -qq -o "$dir/trace" -p "$daemon" -e trace=pwrite64,recvmsg,sendto,sendmsg \
		-e "inject=pwrite64,recvmsg,sendto,sendmsg:signal=SEGV:when=$k" 2>"$dir/strace" &
	tracer=$!
	cleanup_fn end_process "$tracer"
	wait_for 10 traced || skip_all "machine: refuses ptrace ($(tail -n 1 "$dir/strace"))"
	echo >&9
	exec 9>&-
	wait_for 10 has_faults 1 && hits=$((hits + 1))
	kill -TERM "$tracer"
	wait "$tracer" 2>/dev/null
	ok "a fault at call $k: the client ends" wait "$client"
	like "with what it may expect" "$(tail -n 1 "$dir/out")" '^(closed|error|reply)$'
	stop_daemon
	start_daemon
done
ok "there were faults" [ "$hits" -ge 4 ]
stop_daemon
finish
