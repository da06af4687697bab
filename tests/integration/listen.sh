#!/bin/bash
# Sockets that are opened for services outlive them: a client that connects during a restart waits.
. "${0%/*}/lib.sh"
requires_package python3 python3

counter="/usr/bin/env python3 $top_srcdir/tests/helpers/counter.py"
talker="/usr/bin/env python3 $top_srcdir/tests/helpers/talker.py"
mkfifo "$dir/talk"
# A user namespace of a world has no other user.
owner=0
! is_root || owner=65534
exec 9<>"$dir/talk" # a writer keeps the pipe's contents while it has no reader
config <<END
[swansong]
log = inherit
[web]
command = $counter 10
listen = tcp:127.0.0.1:8080,name=web
restart = always
restart-delay = 0
restart-limit = none
[shared/one]
command = $counter 1000
listen = unix:$dir/shared,mode=0606,name=one
[shared/two]
command = $counter 1000
listen = unix:$dir/shared,mode=0606,name=two
[talk]
command = $talker $dir/talk
notify = yes
fd-store-max = 3
restart = always
restart-delay = 0
restart-limit = none
listen = udp:127.0.0.1:5353,name=names tcp:[::1]:8081 unix:$dir/own,owner=$owner,group=$owner
[idle]
command = $counter 1
listen = unix:$dir/made/for/idle
autostart = no
[slow]
command = $helpers/signal-log $dir/slow 0 $dir/slow.go
stop-timeout = 60s
END
mkfifo "$dir/slow.go"

# N connections one after the other, each with an answer; connections without an answer are printed.
client() { # tcp:PORT|unix:PATH N
	python3 - "$1" "$2" <<-'PYTHON'
		import socket, sys
		kind, address = sys.argv[1].split(":", 1)
		failed, pids, names = 0, set(), set()
		for i in range(int(sys.argv[2])):
		    try:
		        if kind == "tcp":
		            link = socket.create_connection(("127.0.0.1", int(address)), 60)
		        else:
		            link = socket.socket(socket.AF_UNIX)
		            link.settimeout(60)
		            link.connect(address)
		        with link:
		            pid, name, _ = link.makefile().readline().split()
		            pids.add(pid)
		            names.add(name)
		    except (OSError, ValueError) as e:
		        failed += 1
		print("%d failed, %d servers, %s" % (failed, len(pids), " ".join(sorted(names))))
	PYTHON
}

start_daemon
ok "the tree becomes ready" ctl --timeout 60s wait --for ready

is "no connection fails while the service is restarted" "$(client tcp:8080 100)" \
	'0 failed, 10 servers, web'
mkfifo "$dir/began"
(
	echo >"$dir/began"
	client tcp:8080 60
) >"$dir/answers" &
asking=$!
read -r _ <"$dir/began"
ok "nor during a restart" ctl --timeout 60s restart web
wait "$asking"
like "also of connections in progress" "$(cat "$dir/answers")" '^0 failed'
like "its listener is the daemon's" "$(ss -Hltnp 'sport = 8080')" 'swansongd'

is "a socket has the mode that was asked for" "$(stat -c %a "$dir/shared")" 606
is "two services share one" "$(client "unix:$dir/shared" 1 | sed 's/one$\|two$/x/')" \
	'0 failed, 1 servers, x'
ok "a server of two stops" ctl stop shared/one
is "the other serves all" "$(client "unix:$dir/shared" 20)" '0 failed, 1 servers, two'
is "and owners" "$(stat -c %u:%g "$dir/own")" "$owner:$owner"

# --- The store -----------------------------------------------------------------------------------

holds() { says "$log" "^talker: holds $1\$"; }
echo held >"$dir/talk"
ok "several sockets arrive with their names" wait_for 20 holds '3: names, listen, listen'
printf '%s\n' 'store file 0' 'store pipe 1' 'store file2 0' 'store toomany 0' 'barrier' >"$dir/talk"
ok "descriptors are taken" wait_for 20 says "$log" '^talker: barrier is over'
is "as many as are allowed" "$(field talk .service.stored)" 3
ok "and the refusal is logged" says "$log" 'talk: FDSTORE=1 is refused: fd-store-max is reached'
printf 'exit 1\nheld\n' >"$dir/talk"
ok "the next run has them back, except a closed one" wait_for 20 \
	holds '5: names, listen, listen, file=kept file, file2=kept file2'
printf 'say FDSTOREREMOVE=1|FDNAME=file\nexit 1\nheld\n' >"$dir/talk"
ok "or was removed" wait_for 20 holds '4: names, listen, listen, file2=kept file2'
before=$(grep -c 'holds 4' "$log")
ok "it is restarted by hand" ctl --timeout 60s restart talk
echo held >"$dir/talk"
more_than() { [ "$(grep -c 'holds 4' "$log")" -gt "$1" ]; }
ok "and has them back, too" wait_for 20 more_than "$before"
ok "it is stopped" ctl stop talk
is "then they are dropped" "$(field talk .service.stored)" null
before=$(grep -c 'holds 3' "$log")
ok "and started" ctl --timeout 60s start talk
echo held >"$dir/talk"
more_than() { [ "$(grep -c 'holds 3' "$log")" -gt "$1" ]; }
ok "it has its sockets" wait_for 20 more_than "$before"

own=$(stat -c %i "$dir/own")
echo 'store file 0' >"$dir/talk"
stores() { [ "$(field talk .service.stored)" = "$1" ]; }
ok "it leaves something" wait_for 20 stores 1
sed -i 's/udp:127.0.0.1:5353,name=names tcp/tcp/' "$ini"
pid=$(pid_of talk)
ok "a reload takes one of its sockets" ctl --timeout 60s reload
ok "which needs another process" wait_for 20 is_up_anew talk "$pid" # the old one would read a part
echo held >"$dir/talk"
ok "it has the others, and those that were not sent" wait_for 20 holds '3: listen, listen, file=kept file'
is "which are the same" "$(stat -c %i "$dir/own")" "$own"

# --- Sockets that cannot be opened ---------------------------------------------------------------

python3 -c '
import socket, sys, signal
s = socket.create_server(("127.0.0.1", 8082))
print("listening", flush=True)
signal.pause()' >"$dir/taken" &
taken=$!
cleanup_fn end_process "$taken"
ok "another process has an address" wait_for 20 says "$dir/taken" listening
printf '[late]\ncommand = %s 5\nlisten = tcp:127.0.0.1:8082\n' "$counter" >>"$ini"
ok "a reload that needs it is refused" not ctl reload
line=$(wc -l <"$ini")
like "the client learns the place and the reason" "$(ctl reload 2>&1)" \
	"swansong.ini:$line: \[late\] listen: cannot listen on tcp:127.0.0.1:8082: Address already in use"
like "also of a transient service" "$(ctl run -p listen=tcp:127.0.0.1:8082 short -- sleep 1h 2>&1)" \
	"\[short\] listen: cannot listen on tcp:127.0.0.1:8082: Address already in use"
: >"$log"
kill -HUP "$daemon"
ok "by a signal it is refused as well" wait_for 10 says "$log" 'the reload is refused'
ok "the log gives the place and the reason" says "$log" \
	"swansong.ini:$line: \\[late\\] listen: cannot listen on tcp:127.0.0.1:8082: Address already in use"
is "nothing has changed" "$(field late .path)" ''
is "and the others serve on" "$(client tcp:8080 20 | sed 's/, .*//')" '0 failed'
end_process "$taken"
ok "once it is free, the reload is taken" ctl reload
is "and there is an answer" "$(client tcp:8082 2)" '0 failed, 1 servers, listen'

connects() { # PATH
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$1" 2>/dev/null
}
ok "a service that is not started yet accepts connections" connects "$dir/made/for/idle"
wait_for 20 says "$dir/slow" ready || die "the slow service is up"
kill "$daemon"
wait_for 20 says "$dir/slow" TERM || die "all is asked to end"
ok "in a shutdown a service that is down accepts none" not connects "$dir/made/for/idle"
echo >"$dir/slow.go"
await_daemon 30
is "the daemon ends" "$status" 0
ok "its paths are removed" not test -e "$dir/own" -o -e "$dir/shared"
ok "nothing is left" wait_for 10 nobody_else

printf '[web]\ncommand = %s 5\nlisten = tcp:192.0.2.1:80\n' "$counter" | config
launch "$swansongd" -v -c "$ini" --socket "$socket"
await_daemon 10
is "a daemon that cannot listen does not start" "$status" 1
ok "and logs the reason" says "$log" 'swansong.ini:3: \[web\] listen: cannot listen on tcp:192.0.2.1:80'
finish
