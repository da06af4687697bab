#!/bin/bash
# control = yes: a service has a connection of its own, for its own node, also from a shell.
. "${0%/*}/lib.sh"
requires_package python3 python3
. "$top_srcdir/tests/integration/holder-lib.sh"
recipe=$top_srcdir/contrib/guard/swansong-guard.sh

cat >"$dir/job" <<'END'
# A job of a shell, with a guard around what must be finished.
. "$1"
exec 4<>"$2"
trap 'echo "asked to end"' TERM
swansong_guard 'nightly "backup" \ für Köln'
swansong_guard "second"
echo "working"
until read -r _ <&4; do :; done
swansong_release 'nightly "backup" \ für Köln'
until read -r _ <&4; do :; done
exit 0
END

config <<END
[swansong]
shutdown-timeout = 30s
[job]
command = $holder_command $dir/job.in
control = yes
stdout = file:$dir/client.out
[job/sub]
command = $helpers/idle
control = yes
[other]
command = $helpers/idle
[shell]
END
declare -A fifo
for shell in dash bash; do
	command -v $shell >/dev/null || continue
	mkfifo "$dir/$shell.fifo"
	exec {fd}<>"$dir/$shell.fifo"
	fifo[$shell]=$fd
	cat >>"$ini" <<-END
	[shell/$shell]
	command = $shell $dir/job $recipe $dir/$shell.fifo
	control = yes
	stop-timeout = 20s
	END
done
mkfifo "$dir/job.in"
start_daemon
ctl wait --for ready
job() { printf '%s\n' "$*" >"$dir/job.in"; wait_for 15 says "$dir/client.out" "^holder: did $1"; }
ask() { # JSON: the answer
	: >"$dir/client.out"
	job ask c "$1" || return
	heard c
}
call() { echo "{\"method\":\"io.swansong.$1\",\"parameters\":{${2:-}}${3:-}}"; } # METHOD [MEMBERS [MORE]]
environment_of() { tr '\0' '\n' <"/proc/$(pid_of "$1")/environ"; } # NODE
is_told() { environment_of "$1" | grep -qx SWANSONG_CONTROL=3; } # NODE, when its program has begun
descriptors_of() { (cd "/proc/$1/fd" && echo *); } # PID

# --- Its descriptor, and its rights --------------------------------------------------------------

ok "the number of its descriptor is in its environment" wait_for 10 is_told job
is "and not in that of a service without one" "$(environment_of other | grep -c CONTROL)" 0
is "it has this descriptor beside its own" "$(descriptors_of "$(pid_of job/sub)")" "0 1 2 3"
job given c
like "without a node its own is meant" "$(ask "$(call TakeGuard '"why":"mine"')")" '"id":'
is "and guarded" "$(leases job)" 1
like "guards names the service" "$(ctl guards job)" "lease .*pid $(pid_of job), .*\"mine\""
is "it sees its own node and the nodes below" \
	"$(ask "$(call Status)" | jq -c '[.parameters.nodes[].path]')" '["job","job/sub"]'
is "and their guards" \
	"$(ask "$(call Guards)" | jq -c '[.parameters.guards[].node] | unique')" '["job","job/sub"]'
like "it may guard nodes below" "$(ask "$(call TakeGuard '"node":"job/sub","why":"below"')")" '"id":'
is "and let go of it" "$(ask "$(call Release '"why":"below"')")" '{"parameters":{}}'
sub=$(pid_of job/sub)
is "it may restart it" "$(ask "$(call Restart '"node":"job/sub"')")" '{"parameters":{}}'
ok "which comes back with another process" test "$(pid_of job/sub)" != "$sub"
for what in 'Status "node":"other"' 'Status "node":""' 'Status "node":"root"' 'Status "node":"jo"' \
	'Status "node":"job2"' 'TakeGuard "node":"other"' 'Shutdown "node":""' 'Stop "node":"other"' \
	'Signal "node":"other","signal":"TERM"' 'Wait "node":"other","until":"complete"' \
	'Events "node":"other"' 'Reload ' 'Run "node":"job/new","command":["true"]'; do
	is "it may not: $what" "$(ask "$(call "${what%% *}" "${what#* }")" | jq -r .error)" io.swansong.NotPermitted
done
is "the others are untouched" "$(state other)" up
is "it releases its own guard" "$(ask "$(call Release '"why":"mine"')")" '{"parameters":{}}'
job say c "$(call TakeGuard '"why":"oneway"' ',"oneway":true')"
ok "a oneway guard is taken" wait_for 5 has_leases job 1

# --- A run, and its end --------------------------------------------------------------------------

old=$(pid_of job)
kill -KILL "$old"
ok "its guards end with it" wait_for 10 has_leases job 0
ok "it is started again" wait_for 10 has_state job up
: >"$dir/client.out"
job given c
like "with a new connection" "$(ask "$(call TakeGuard '"why":"kept"')")" '"id":'
job copy c
ok "a child of it has that too" wait_for 5 says "$dir/client.out" '^holder: child'
child=$(last_child client)

# --- A shell, with nothing but the descriptor ----------------------------------------------------

for shell in dash bash; do
	if ! command -v $shell >/dev/null; then
		skip "$shell: guards" "package $shell"
		continue
	fi
	ok "$shell: it takes two guards" wait_for 10 has_leases "shell/$shell" 2
	is "$shell: with its words" \
		"$(ctl guards "shell/$shell" --json | jq -r '.guards[] | select(.kind == "lease").why' | head -n 1)" \
		'nightly "backup" \ für Köln'
	like "$shell: they are the service's" "$(ctl guards "shell/$shell")" "pid $(pid_of "shell/$shell"), "
done
ctl shutdown shell --no-wait
for shell in dash bash; do
	command -v $shell >/dev/null || continue
	echo >&"${fifo[$shell]}"
	ok "$shell: it releases one in its stop" wait_for 10 has_leases "shell/$shell" 1
	echo >&"${fifo[$shell]}"
	ok "$shell: its end releases the other" timeout 20 "$swansongctl" wait "shell/$shell"
	is "$shell: nothing was forced" "$(field "shell/$shell" .forced)" false
done

# --- Many, and none ------------------------------------------------------------------------------

cat >"$dir/many" <<'END'
. "$1"
i=0
while [ $((i += 1)) -le 300 ]; do
	swansong_guard "$i"
done
echo "all were asked for"
swansong_release 1
exec sleep 1000
END
cat >"$ini" <<-END
[many]
command = sh $dir/many $recipe
control = yes
[job]
command = $holder_command $dir/job.in
control = yes
stdout = file:$dir/client.out
[job/sub]
command = $helpers/idle
control = yes
END
ctl reload >/dev/null
ok "a guard that is refused does not end the shell" wait_for 30 says "$log" '^many +\| all were asked for'
# The shell does not wait for the daemon, which learns later of the guard that is released last.
has_so_many() { says "$log" 'further refusals are not logged' && has_leases many 255; }
ok "a connection has so many" wait_for 10 has_so_many
like "the log reports it" "$(cat "$log")" 'many: a guard is refused to pid [0-9]+: this connection holds 256 guards'
ok "and not without an end" test "$(grep -c 'a guard is refused' "$log")" -le 12
like "and its last line announces the end" "$(grep 'a guard is refused' "$log" | tail -n 1)" 'further refusals are not logged'

sh -eu -c '. "$1"; swansong_guard x; swansong_release x; echo harmless' x "$recipe" >"$dir/none" 2>&1
is "without a daemon the recipe does nothing" "$(cat "$dir/none")" harmless
SWANSONG_CONTROL=9 sh -eu -c '. "$1"; swansong_guard x; echo harmless' x "$recipe" >"$dir/none" 2>&1
is "also with a number of nothing" "$(cat "$dir/none")" harmless

# --- A stop that a copy in a remaining process holds up ------------------------------------------

is "the copy of a child holds the guards of the service" "$(leases job)" 1
kill -KILL "$child"
job close c
ok "the last copy releases it" wait_for 10 has_leases job 0
stop_daemon 20
is "the daemon ends in peace" "$status" 0
ok "nothing is left" wait_for 10 nobody_else

# --- Without a socket, and as another user -------------------------------------------------------

cat >"$dir/plain" <<'END'
. "$1"
swansong_guard "as $(id -u)"
swansong_guard twice
swansong_guard twice
swansong_release twice
echo "guarded"
exec sleep 1000
END
user=
if is_root; then
	user="user = 65534
group = 65534"
fi
cp "$recipe" "$dir/recipe"
config <<END
[plain]
command = sh $dir/plain $dir/recipe
control = yes
stdout = file:$dir/plain.out
$user
END
launch "$swansongd" -v -c "$ini" --socket none
ok "a service is connected where there is no socket" wait_for 10 says "$dir/plain.out" guarded
counted() { kill -USR1 "$daemon" && says "$log" "${said}plain: running, 2 guards, up"; }
ok "and guarded" wait_for 10 counted
plain=$(sed -n 's/.*plain: started, pid //p' "$log" | tail -n 1)
if [ -n "$user" ]; then
	is "with any user" "$(awk '/^Uid:/ { print $2 }' "/proc/$plain/status")" 65534
else
	skip "with any user" "machine: needs root"
fi
stop_daemon 20
is "which is no trouble to its stop" "$status" 0

# --- Lent to another process ---------------------------------------------------------------------

cat >"$dir/lend.py" <<'END'
import os, signal, socket, sys

if "SWANSONG_CONTROL" in os.environ:
    with socket.socket(socket.AF_UNIX) as borrower:
        borrower.connect(sys.argv[1])
        socket.send_fds(borrower, [b"x"], [int(os.environ["SWANSONG_CONTROL"])])
signal.pause()
END
cat >"$dir/borrow.py" <<'END'
import socket, sys

listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
lent = socket.socket(fileno=socket.recv_fds(listener.accept()[0], 1, 1)[1][0])
lent.sendall(b'{"method":"io.swansong.Status","parameters":{}}\0')
print("answered" if lent.recv(65536) else "not answered", flush=True)
while lent.recv(65536):
    pass
print("closed", flush=True)
END
for node in lent removed kept; do
	printf '[%s]\ncommand = /usr/bin/env python3 %s %s\ncontrol = yes\n' \
		$node "$dir/lend.py" "$dir/$node.borrower"
	python3 "$dir/borrow.py" "$dir/$node.borrower" >"$dir/$node.out" &
	cleanup_fn end_process $!
done >"$ini"
for node in lent removed kept; do
	wait_for 10 test -S "$dir/$node.borrower" || die "a process borrows from $node"
done
start_daemon
for node in lent removed kept; do
	ok "$node: the service lends its connection" wait_for 10 says "$dir/$node.out" '^answered'
done
sed -i '/^\[removed\]/,/^control/d; 0,/^control/s/yes/no/' "$ini"
ok "a reload takes the connection of a service, and removes another" ctl reload
for node in lent removed; do
	ok "$node: its lent connection is closed" wait_for 10 says "$dir/$node.out" '^closed'
done
ok "the third is as it was" not says "$dir/kept.out" '^closed'
stop_daemon
is "the daemon ends as ever" "$status" 0
finish
