#!/bin/bash
# A client that knows nothing but varlink: the descriptions that it gets without a manual.
. "${0%/*}/lib.sh"
requires_package python3 python3

groups=250 # more than one reply has
{
	for ((i = 0; i < groups; i++)); do echo "[group/g$i]"; done
	service web
} | config
start_daemon
ctl wait --for ready

replies() { # CALL: its replies, a line each
	python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(10)
s.connect(sys.argv[1])
s.sendall(sys.argv[2].encode() + b"\0")
s.shutdown(socket.SHUT_WR)
print(b"".join(iter(lambda: s.recv(65536), b"")).decode().replace("\0", "\n"), end="")
' "$socket" "$1"
}
status='"method":"io.swansong.Status","parameters":{}'
replies "{$status}" >"$dir/whole"
replies "{$status,\"more\":true}" >"$dir/parts"
is "the status is one reply" "$(wc -l <"$dir/whole")" 1
is "with more it is several" "$(jq -c .continues "$dir/parts" | xargs)" "true true null"
is "which are the same together" "$(jq -r '.parameters.nodes[].path' "$dir/parts")" \
	"$(jq -r '.parameters.nodes[].path' "$dir/whole")"
is "of all nodes" "$(jq '.parameters.nodes | length' "$dir/whole")" $((groups + 3))
is "a node is an object with its service in it" \
	"$(jq -c '.parameters.nodes[] | select(.path == "web") | [.state, .service.state, .service.pid]' "$dir/whole")" \
	"[\"running\",\"up\",$(pid_of web)]"
is "for swansongctl they are one document" \
	"$(ctl --json status | jq '.nodes | length')" $((groups + 3))

# --- varlinkctl ----------------------------------------------------------------------------------

if ! command -v varlinkctl >/dev/null; then
	skip "varlinkctl" "machine: no varlinkctl, which Debian 13 has"
	finish
fi
v() { varlinkctl "$1" "unix:$socket" "${@:2}"; }
ok "it reads the interface" v introspect io.swansong
is "without a word of complaint" "$(v introspect io.swansong 2>&1 >/dev/null)" ""
is "and the interface of varlink itself" "$(v introspect org.varlink.service 2>&1 >/dev/null)" ""
is "it lists all methods" "$(v list-methods io.swansong | sed 's/.*\.//' | sort | xargs)" \
	"$(sed -n 's/^METHOD([A-Z_]*, "\([A-Za-z]*\)",.*/\1/p' "$top_srcdir/src/proto/interface/methods.h" | sort | xargs)"
is "it reads the status" "$(v call io.swansong.Status '{"node":"web"}' | jq -r '.nodes[].service.state')" up
# From systemd 257 on each part begins with the separator of RFC 7464.
is "in parts, too" \
	"$(varlinkctl --more call "unix:$socket" io.swansong.Status '{}' | tr -d '\036' | jq -r '.nodes[].path')" \
	"$(jq -r '.parameters.nodes[].path' "$dir/whole")"
is "an error has its name" "$(v call io.swansong.Status '{"node":"nope"}' 2>&1 | grep -o 'io.swansong.NoSuchNode')" \
	io.swansong.NoSuchNode
finish
