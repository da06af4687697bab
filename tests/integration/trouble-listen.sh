#!/bin/bash
# Two services serve one socket: no connection is lost when either of them is restarted, stopped or killed,
# again and again.
. "${0%/*}/lib.sh"
requires_package python3 python3

counter="/usr/bin/env python3 $top_srcdir/tests/helpers/counter.py"
config <<END
[one]
command = $counter 1000000
listen = tcp:127.0.0.1:8080,name=one
restart = always
restart-delay = 0
restart-limit = none
[two]
command = $counter 1000000
listen = tcp:127.0.0.1:8080,name=two
restart = always
restart-delay = 0
restart-limit = none
END

# Connects until its input is "stop" and there were some answers, and counts the answers of each server.  A
# connection is lost when it is refused, or no server accepts it; one whose server is killed while it serves
# is cut, and counts apart.
cat >"$dir/client.py" <<'END'
import os, select, socket, sys
answers, lost, cut = {}, 0, 0
print("begun", flush=True)
def enough():
    return sum(answers.values()) >= 50 or lost >= 50
while not (enough() and select.select([0], [], [], 0)[0]):
    try:
        link = socket.create_connection(("127.0.0.1", 8080), 60)
    except OSError:
        lost += 1
        continue
    with link:
        try:
            line = link.makefile().readline()
        except ConnectionResetError:
            line = ""
        except OSError:
            lost += 1
            continue
        if line:
            name = line.split()[1]
            answers[name] = answers.get(name, 0) + 1
        else:
            cut += 1
print("lost %d, cut %d, by %s" % (lost, cut, " ".join(sorted(answers))), flush=True)
END

mkfifo "$dir/word"
exec 9<>"$dir/word"
client() {
	: >"$dir/client"
	python3 "$dir/client.py" <"$dir/word" >"$dir/client" &
	asking=$!
	cleanup_fn end_process "$asking"
	wait_for 20 says "$dir/client" begun
}
client_ends() {
	echo stop >&9
	wait_for 90 gone "$asking"
	read -rt 0.1 _ <&9 # it has only peeked at the line
	tail -n 1 "$dir/client"
}

start_daemon
ok "both are up" ctl wait --for ready --timeout 60s

client || die "clients connect all the time"
for ((i = 0; i < 5; i++)); do
	ctl restart one --timeout 60s >/dev/null || die "the service one is restarted"
	ctl restart two --timeout 60s >/dev/null || die "the other is restarted"
done
like "restarts of one, and of the other, lose no connection" "$(client_ends)" '^lost 0, '

client || die "clients connect all the time"
ctl stop one --timeout 20s >/dev/null
like "nor does a stop of one of them" "$(client_ends)" '^lost 0, cut [01], by .*two'
client || die "clients connect all the time"
like "the other serves all" "$(client_ends)" '^lost 0, cut 0, by two$'
client || die "clients connect all the time"
ctl stop two --timeout 20s >/dev/null
ctl start two --timeout 20s >/dev/null
like "a client waits while there is no server" "$(client_ends)" '^lost 0, cut [01], by two$'

ctl start one --timeout 20s >/dev/null
client || die "clients connect all the time"
for node in one two one two; do
	pid=$(pid_of "$node")
	kill -KILL "$pid"
	wait_for 20 is_up_anew "$node" "$pid" || die "$node is there again"
done
like "a server that crashes cuts the connections that it had accepted, and no other" "$(client_ends)" \
	'^lost 0, cut [0-4], by'

stop_daemon 20
is "the end is as ever" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
finish
