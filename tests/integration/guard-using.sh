#!/bin/bash
# Work that uses a service keeps it up until the work is over: swansongctl guard --using holds its guard on
# a transient node that requires the service.
. "${0%/*}/lib.sh"
requires_package python3 python3

{
	printf '[swansong]\nreport = %s\n' "$dir/report"
	printf '[data]\nshutdown-timeout = infinity\nstrategy = one-for-all\n'
	service data/redis 'shutdown-timeout = 1min'
	service data/queue
	service data/small 'shutdown-timeout = 3s' 'stop-timeout = 1s'
	service web 'requires = data'
	service app@ 'instances = 1 2'
	service leaving
	printf '[jobs]\n'
	for name in lazy other; do
		service $name "listen = unix:$dir/$name.sock" 'autostart = on-demand' 'idle-timeout = 300ms'
	done
} | config

# Work under a guard, which ends at a line in its FIFO, and which reports then whether the process runs.
declare -A fifo
work() { # NAME PID OPTION... NODE
	local name=$1 pid=$2 fd
	shift 2
	rm -f "$dir/$name" "$dir/$name.held"
	mkfifo "$dir/$name"
	exec {fd}<>"$dir/$name"
	fifo[$name]=$fd
	# shellcheck disable=SC2016  # for the other shell
	"$swansongctl" guard --using --why "$name" "$@" -- sh -c 'echo held >"$1.held"; read -r _ <"$1"
		kill -0 "$2" && echo "has ended beside its service" || echo "has lost its service"' \
		sh "$dir/$name" "$pid" >"$dir/$name.out" 2>&1 &
	worker=$!
	cleanup_fn end_process "$worker"
	wait_for 10 test -s "$dir/$name.held" || die "$name has begun: $(cat "$dir/$name.out")"
}
end_work() { echo >&"${fifo[$1]}"; }                                            # NAME
has_ended_well() { wait "$2" && says "$dir/$1.out" "has ended beside its"; }     # NAME PID
is_listed() { ctl list | grep -qxF "$1"; }                                      # NODE
is_stopping() { [ "$(field "$1" .state)" = shutting_down ]; }                   # NODE
refused() { ctl guard "$@" -- echo "the program is run" 2>&1; }                 # OPTION... NODE
start() { start_daemon && ctl wait --for ready --timeout 20s; }
using_nodes() { ctl list | grep -F + || :; }
start

# --- By hand ---------------------------------------------------------------------------------------

redis=$(pid_of data/redis)
work first "$redis" data/redis
first=$worker
work second "$redis" data/redis
second=$worker
is "all work that uses a node has one node" "$(using_nodes)" data/redis+using
like "with each holder and its reason" "$(ctl guards data/redis+using | tr '\n' ' ')" 'lease.*first.*lease.*second'
like "the plan shows that the service waits for it" "$(ctl plan)" 'data/redis +data/redis\+using, web '
is "a reload leaves it alone" "$(ctl reload --dry-run)" "nothing would change"
ok "also one that happens" ctl reload
end_work first
ok "work ends" has_ended_well first "$first"
is "the node stays for the other work" "$(using_nodes)" data/redis+using
like "no section can have such a name" "$(ctl run data/x+using -- true 2>&1)" 'expected letters'

ctl stop data/redis >"$dir/stop" 2>&1 &
stop=$!
ok "a stop of the service by hand is under way" wait_for 10 has_state data/redis waiting
like "status reports its reason" "$(ctl status data/redis)" 'data/redis\+using'
like "guards --blocking names the work" "$(ctl guards --blocking)" 'data/redis\+using.*second'
like "no further work begins" "$(refused --using data/redis)" '^swansongctl: data/redis: stopped'
end_work second
ok "the work ends beside the service" has_ended_well second "$second"
ok "then the stop does" wait "$stop"
like "which names the node" "$(cat "$dir/stop")" 'data/redis\+using: stopped with data/redis'
ok "the service has ended" gone "$redis"
ok "the node has gone" wait_for 10 not is_listed data/redis+using
like "a guard starts nothing" "$(refused --using data/redis)" '^swansongctl: data/redis: stopped'
is "and leaves nothing" "$(using_nodes)" ""
ctl start data/redis

redis=$(pid_of data/redis)
work restart "$redis" data/redis
restarting=$worker
ctl restart data/redis >"$dir/restart" 2>&1 &
restart=$!
ok "a restart waits, too" wait_for 10 has_state data/redis waiting
end_work restart
ok "the work ends beside the earlier process" has_ended_well restart "$restarting"
ok "then the service is restarted" wait "$restart"
ok "by another process" test "$(pid_of data/redis)" != "$redis"

work killed 1 data/redis
kill -KILL "$worker"
ok "the guard ends with its holder" wait_for 10 not is_listed data/redis+using
end_work killed # its command outlives the holder
work brief 1 --ttl 100ms data/redis
ok "and with its time" wait_for 10 not is_listed data/redis+using
end_work brief

# --- Groups, templates and others ------------------------------------------------------------------

queue=$(pid_of data/queue) web=$(pid_of web)
work group "$queue" data
group=$worker
is "a group is used as a whole" "$(using_nodes)" data+using
ctl stop data >"$dir/stop" 2>&1 &
stop=$!
ok "none of its services is signalled" wait_for 10 has_state data/queue waiting
ok "while others that require it end" wait_for 10 gone "$web"
end_work group
ok "before the work is over" has_ended_well group "$group"
ok "the group stops" wait "$stop"
ctl start data web

work template "$(pid_of app@2)" app@
template=$worker
is "a template is used by its instances" "$(using_nodes | tr '\n' ' ')" "app@1+using app@2+using "
end_work template
ok "and released with them" has_ended_well template "$template"
ok "all together" wait_for 10 not is_listed app@2+using

like "the root is used by nothing" "$(refused --using /)" 'root: .*: expected a node below it'
like "an unknown node neither" "$(refused --using nope)" "nope"
work twice "$(pid_of data/queue)" data/queue
like "nor one that only has guards" "$(refused --using data/queue+using)" 'expected the node that they use'
ok "which takes guards as any other" refused data/queue+using
end_work twice
ctl run jobs/shift -- "$helpers/idle" >/dev/null
wait_for 10 has_state jobs/shift up
work transient "$(pid_of jobs/shift)" jobs/shift
transient=$worker
ctl shutdown --no-wait jobs/shift
ok "a transient service waits as others do" wait_for 10 has_state jobs/shift waiting
end_work transient
ok "until the work is over" has_ended_well transient "$transient"
ok "and both are removed" wait_for 10 not is_listed jobs/shift
is "completely" "$(using_nodes)" ""

work lazy 1 lazy
is "a guard starts no service on demand" "$(state lazy)" listening
ctl start lazy >/dev/null
for _ in 1 2; do
	ctl start other >/dev/null
	wait_for 10 has_state other listening || die "a service without work is idle"
done
is "a service is not idle while work uses it" "$(state lazy)" up
end_work lazy
ok "but afterwards" wait_for 10 has_state lazy listening

# --- A service that crashes, and one whose section is removed -----------------------------------------

redis=$(pid_of data/redis)
work crash "$redis" data/redis
kill -KILL "$redis"
ok "a group that restarts after a crash does not wait for the work" wait_for 20 is_up_anew data/redis "$redis"
like "but takes no more on the former one" "$(refused --using data/redis)" 'data/redis\+using: stopped'
end_work crash
ok "until the earlier work is over" wait_for 10 not is_listed data/redis+using
ok "then it does" refused --using data/redis

leaving=$(pid_of leaving)
work removed "$leaving" leaving
removed=$worker
sed -i '/^\[leaving\]/,/^command/d' "$ini"
ok "a reload removes a section" ctl reload
ok "its service waits for the work" wait_for 10 has_state leaving waiting
end_work removed
ok "which is not cut" has_ended_well removed "$removed"
ok "then all of it has gone" wait_for 10 not is_listed leaving
is "with its node" "$(using_nodes)" ""

# --- Limits ----------------------------------------------------------------------------------------

cat >"$dir/many.py" <<'END'
import json, socket, sys
c = socket.socket(socket.AF_UNIX)
c.connect(sys.argv[1])
f = c.makefile("rb")
def take():
    c.sendall(b'{"method":"io.swansong.TakeGuard","parameters":{"node":"data/queue","using":true}}\0')
    text = b""
    while not text.endswith(b"\0"):
        text += f.read(1)
    return json.loads(text[:-1]).get("error", "taken")
def release():
    c.sendall(b'{"method":"io.swansong.Release","parameters":{"why":""}}\0')
    f.read(len(b'{"parameters":{}}\0'))
one_by_one = []
for _ in range(300):
    one_by_one.append(take())
    release()
results = [take() for _ in range(257)]
print(one_by_one.count("taken"), results.count("taken"), results[-1])
END
is "a guard is taken just after another; 256 on a connection are the limit here, too" \
	"$(python3 "$dir/many.py" "$socket")" "300 256 io.swansong.TooMany"
ok "all end with it" wait_for 10 not is_listed data/queue+using

# The budget is that of the used node, which keeps the time for its end.
: >"$log"
small=$(pid_of data/small)
work endless "$small" data/small
endless=$worker
ctl stop data/small >"$dir/stop" 2>&1
is "work that does not end costs a stop its status" "$?" 1
like "the guard is revoked" "$(cat "$dir/stop")" 'revoked, after [0-9.]+m?s, the guard of .*endless'
ok "no process is killed for it" not grep -q killed "$dir/stop"
like "its holder is notified" "$(cat "$dir/endless.out")" 'guard was revoked, as the time to shut down is spent'
ok "the service has got its signal in time" in_order 'data/small\+using: revoking the guard' 'data/small: SIGTERM' \
	'data/small: killed by SIGTERM'
ok "the node has gone" wait_for 10 not is_listed data/small+using
end_work endless
wait "$endless"
like "the work has lost its service" "$(cat "$dir/endless.out")" 'has lost its service'

# --- The whole tree --------------------------------------------------------------------------------

stop_daemon
is "a daemon without work ends at once" "$status" 0
start
redis=$(pid_of data/redis) web=$(pid_of web)
work backup "$redis" data/redis
backup=$worker
work late "$redis" --on-shutdown USR1 data/redis
ok "a shutdown begins" ctl shutdown --no-wait
ok "a service without work ends" wait_for 10 gone "$web"
ok "the other one waits" wait_for 10 has_state data/redis waiting
like "no more work begins" "$(refused --using data/redis)" '^swansongctl: data/redis: stopped'
like "nor is there another node" "$(refused --using data/queue)" '^swansongctl: data/queue: stopped'
ok "an earlier guard may be joined" ctl guard --using --late data/redis -- true
end_work backup
ok "the work ends well" has_ended_well backup "$backup"
end_work late
await_daemon 20
is "so does the shutdown" "$status" 0
like "its report shows the wait" "$(ctl blame --report "$dir/report")" \
	'data/redis +\+.*waiting.*
 +data/redis\+using +\+.*lease swansongctl.*"(backup|late)"'

# Work that does not end, in the budget of the tree.
: >"$log"
start
work endless "$(pid_of data/redis)" data/redis
ctl shutdown --grace 4s --no-wait
await_daemon 20
is "the budget ends all" "$status" 124
ok "the guard first" in_order 'data/redis\+using: revoking the guard' 'data/redis: SIGTERM' 'data/redis: killed by SIGTERM'
end_work endless
ok "nothing is left" wait_for 10 nobody_else
finish
