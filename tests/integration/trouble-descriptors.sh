#!/bin/bash
# No descriptor is left to the daemon: it answers, loses no process, and can be stopped all the same.
. "${0%/*}/lib.sh"
# Cases with control groups are in cgroup-killed.sh and cgroup-trouble.sh.
hide_cgroups
requires_package python3 python3

config <<END
[swansong]
final = touch $dir/done/root
[open]
command = $helpers/idle
[base]
command = $helpers/idle
post-stop = touch $dir/done/base
[top]
command = $helpers/idle
requires = base
[logs]
command = $helpers/idle
start-command = touch $dir/done/logs
log = file:$dir/output
restart = never
autostart = no
[stray]
command = sh -c 'read -r _ <$dir/stray; setsid sh -c "$helpers/idle & "; exec $helpers/idle'
autostart = no
END
mkfifo "$dir/stray"

# No number below the limit is free, and none becomes free; those above it stay open.
exhaust() { # CONNECTIONS: that stay
	local limit=0
	wait_for 10 has_connections "$1" || die "connections of clients that have ended are closed"
	while [ -e "/proc/$daemon/fd/$limit" ]; do limit=$((limit + 1)); done
	prlimit --pid "$daemon" --nofile="$limit:"
}
begin() {
	rm -rf "$dir/done"
	mkdir "$dir/done"
	: >"$log"
	start_daemon
	ctl wait --for ready --timeout 60s >/dev/null || die "all is up"
}

begin
top=$(pid_of top)
open=$(pid_of open)
exhaust 0 || skip_all "machine: refuses prlimit"

said=$(ctl status --timeout 10s 2>&1)
is "a client is turned away" "$?" 1
like "with a reason" "$said" 'swansongctl: .+'
ok "the log gives the reason" says "$log" 'cannot accept control connections: Too many open files'
ok "the services are there" kill -0 "$open" "$top"

stop_daemon 20
is "it can be stopped" "$status" 0
ok "in the order of the services" in_order 'top: SIGTERM' 'top: killed by SIGTERM' 'base: SIGTERM'
ok "by then there are descriptors for the final actions" test -e "$dir/done/base" -a -e "$dir/done/root"
ok "nothing is left" wait_for 10 nobody_else

# Not even the descriptors of dead processes can be used again.
begin
prlimit --pid "$daemon" --nofile=3:
stop_daemon 20
is "with a limit that lets nothing be opened it can be stopped" "$status" 0
ok "its post-stop is run, as that takes none of ours" says "$log" 'base: post-stop: started touch'
ok "its final action as well" says "$log" 'root: final: started touch'
ok "nothing is left" wait_for 10 nobody_else

# A start that fails for lack of descriptors does not count, even with restart = never.
begin
mkfifo "$dir/go"
# The connection is there before the descriptors are gone.
python3 - "$socket" "$dir/go" <<-'PYTHON' &
	import socket, sys
	s = socket.socket(socket.AF_UNIX)
	s.connect(sys.argv[1])
	def call(method, parameters):
	    s.sendall(b'{"method":"io.swansong.%s","parameters":%s}\0' % (method, parameters))
	    return s.recv(100000)
	call(b"Status", b"{}")
	open(sys.argv[2], "w").close()
	open(sys.argv[2]).read()
	call(b"Start", b'{"node":"logs"}')
PYTHON
asking=$!
cleanup_fn end_process "$asking"
read -r _ <"$dir/go"
exhaust 1
: >"$dir/go"
ok "a start-command for which there is none is tried again" wait_for 10 \
	says "$log" 'logs: start-command cannot start: .*Too many open files; again in'
prlimit --pid "$daemon" --nofile=1000:
ok "until it can be started" wait_for 10 has_state logs up
stop_daemon 20
is "and the end is as ever" "$status" 0

# A process that becomes a child of the daemon belongs to a service, which the daemon has to find.
begin
ctl start stray >/dev/null || die "stray is up"
python3 - "$socket" "$dir/go" >"$dir/guards" <<-'PYTHON' &
	import json, socket, sys, time
	s = socket.socket(socket.AF_UNIX)
	s.connect(sys.argv[1])
	def guards():
	    s.sendall(b'{"method":"io.swansong.Guards","parameters":{"node":"stray"}}\0')
	    text = b""
	    while not text.endswith(b"\0"):
	        text += s.recv(100000)
	    return json.loads(text[:-1])["parameters"]["guards"]
	guards()
	open(sys.argv[2], "w").close()
	open(sys.argv[2]).read()
	end = time.monotonic() + 10
	while time.monotonic() < end:
	    if any(g["kind"] == "leftover" for g in guards()):
	        print("found")
	        break
PYTHON
asking=$!
cleanup_fn end_process "$asking"
read -r _ <"$dir/go"
exhaust 1
: >"$dir/stray"
: >"$dir/go"
wait "$asking"
is "without descriptors an escapee is found" "$(cat "$dir/guards")" found
stop_daemon 20
is "and the end is as ever" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
finish
