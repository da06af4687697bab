#!/bin/bash
# Services that a killed swansongd has left are stopped by the next one as by a restart: in the order of the tree,
# each by its own signal and within its own time.  What has nothing left does not wait for them.
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"

mkfifo "$dir/web.go" "$dir/db.go"
config <<END
[db]
command = $helpers/signal-log $dir/db 0 $dir/db.go
[web]
command = $helpers/signal-log $dir/web 0 $dir/web.go
requires = db
[job]
command = $helpers/idle
post-stop = touch $dir/post-stop
[idle]
command = sh -c 'trap "echo USR1 >>$dir/starts; exit" USR1; $helpers/idle & echo started >>$dir/starts; wait'
stop-signal = USR1
autostart = no
[gone]
command = $helpers/idle
END
start_daemon
for node in db web; do wait_for 5 says "$dir/$node" ready || die "$node has begun"; done
ctl start idle
declare -A old
for node in db web job idle gone; do old[$node]=$(pid_of "$node"); done
end_process "${old[job]}"
wait_for 5 has_state job up
end_process "$daemon"
ok "they outlive the daemon" kill -0 "${old[db]}" "${old[web]}" "${old[idle]}" "${old[gone]}"

# A daemon without a control socket takes no part in this: its services run and end undisturbed.
launch "$swansongd" -q --socket none -- true
await_daemon 10
ok "none is touched" kill -0 "${old[db]}" "${old[web]}" "${old[idle]}" "${old[gone]}"

# The new configuration has one service fewer, and one more.
sed -i 's/^\[gone\]/[other]/' "$ini"
: >"$dir/db" && : >"$dir/web"
start_daemon
ok "a service without such processes starts at once" wait_for 5 has_state other up
ok "the next one names what it found" says "$log" "web: stopping 1 processes of an earlier swansongd, with pid ${old[web]}"
ok "and asks the dependent to end" wait_for 5 says "$dir/web" TERM
is "it is stopping, with the old process" "$(state web) $(pid_of web)" "stopping ${old[web]}"
is "its requirement waits for it" "$(state db) $(pid_of db)" "waiting ${old[db]}"
is "and has got no signal" "$(cat "$dir/db")" ""
like "its guard is that of the process" "$(ctl guards web)" "${old[web]}"
echo >"$dir/web.go"
ok "the dependent is gone when its work is done" wait_for 5 gone "${old[web]}"
ok "then the requirement gets its signal" wait_for 5 says "$dir/db" TERM
echo >"$dir/db.go"
ok "all of them start" ctl wait --for ready --timeout 60s
not_old() { [ "$(pid_of "$1")" != "${old[$1]}" ]; } # NODE
ok "anew" eval 'not_old db && not_old web'
ok "a post-stop has run" wait_for 20 test -e "$dir/post-stop"
ok "a service that does not start by itself is stopped" wait_for 5 gone "${old[idle]}"
is "by its own signal, and not started" "$(state idle) $(xargs <"$dir/starts")" "down started USR1"
ok "the process of no service any more is ended" wait_for 5 gone "${old[gone]}"
ok "its group is named" says "$log" 'node:gone: ending the processes of an earlier swansongd'
exec 7<>"$dir/db.go" 8<>"$dir/web.go"
echo >&7 && echo >&8
stop_daemon

# A process that does not end, of a service with a time of its own; and others beside its main process.
config <<END
[tough]
command = sh -c '$helpers/stubborn $dir/child & exec $helpers/stubborn $dir/stubborn'
stop-timeout = 1s
END
rm -f "$dir/stubborn" "$dir/child"
start_daemon
wait_for 5 test -s "$dir/stubborn" -a -s "$dir/child" || die "the stubborn ones are there"
mapfile -t tough < <(cat "$dir/stubborn" "$dir/child")
end_process "$daemon"
rm -f "$dir/stubborn"
start_daemon
began=$(now)
ok "it has the main process" [ "$(pid_of tough)" = "${tough[0]}" ]
ok "it is killed" wait_for 10 gone "${tough[@]}"
within "after the stop-timeout of the service" $(($(now) - began)) 500 3500
ok "and it runs again" wait_for 5 test -s "$dir/stubborn"
mapfile -t tough < <(cat "$dir/stubborn")
end_process "$daemon"

# A shutdown in the middle.
start_daemon
stop_daemon 5
is "a stop of the tree ends it within its time" "$status" 124
ok "all are gone" wait_for 2 gone "${tough[@]}"
is "no group is left" "$(groups_left)" ""

# Sockets of the daemon that its services have, too: the next one takes them, or opens them when they are free.
sockets() { # ADDRESS [LINE...]
	local shared=$1
	shift
	service one "listen = $shared unix:$dir/one.socket" "$@"
	service two "listen = $shared udp:127.0.0.1:7001" "$@"
	service three "$@"
}
with_sockets() { # NAME
	mapfile -t former < <(pid_of one; pid_of two)
	end_process "$daemon"
	start_daemon
	ok "$1: the next one starts" ctl_answers
	ok "$1: with all services" ctl wait --for ready --timeout 60s
	ok "$1: which are new" wait_for 5 gone "${former[@]}"
}
sockets tcp:127.0.0.1:7000 | config
start_daemon
ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
with_sockets "sockets"
ok "no socket was refused" not says "$log" 'cannot listen'
pids() { for node in one two three; do pid_of $node; done | xargs; }
same=$(pids)
kill -SEGV "$daemon"
ok "then a fault of this one" wait_for 10 has_faults 1
is "touches none of them" "$(pids)" "$same"
stop_daemon
swansongd_untraced() {
	in_cgroup setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace "$top_builddir/swansongd" "$@"
}
swansongd=swansongd_untraced
chmod o+x "$dir"
sockets '' user=nobody | config
start_daemon
ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
with_sockets "without the right to take them"
ok "a socket is opened later" says "$log" 'may have it: opened at the start'
stop_daemon
finish
