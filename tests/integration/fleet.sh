#!/bin/bash
# Three nodes of a Pacemaker cluster behind a balancer: contrib/pacemaker as its README describes it.  A standby
# loses no request, a node that is killed those that it works on.
. "${0%/*}/lib.sh"
. "${0%/*}/fleet-lib.sh"

start_cluster
ok "the resource of the readme is accepted" wait_for 30 on 1 cibadmin --replace --scope resources --xml-file /root/cib.xml
wait_for 60 shows 'Started: \[ n1 n2 n3 \]' || {
	on 1 crm_mon -1rf 2>&1 | comment
	die "its tree starts on all of them"
}
start_balancer
for node in 1 2 3; do ok "n$node answers" wait_for 30 answers_from n$node; done
stage "three trees"

load
for node in 1 2 3; do
	standby $node on
	ok "n$node goes to standby, without a tree" wait_for 30 has_no_tree $node
	standby $node off
	ok "it comes back" wait_for 30 has_tree $node
	ok "and answers" wait_for 30 answers_from n$node
done
load_ends
is "a rolling standby of all nodes loses no request" "$(figure '.lost | length')" 0
is "all have an answer" "$(figure '[.answered[]] | add')" "$(figure .sent)"
ok "nothing was killed" not on 1 grep -q 'SIGKILL\|forced' /var/log/shop.log
stage "a rolling standby"

load
ok "a node works on requests" wait_for 10 in_flight 3
kill -KILL "${pids[3]}"
wait_for 10 gone "${pids[3]}" || die "a node is killed"
killed=$(now)
ok "the others notice that a node was killed" wait_for 30 shows 'OFFLINE: \[ n3 \]'
stage "a node is killed, noticed after $(($(now) - killed)) ms"
load_ends
is "lost are only requests that it was working on" \
	"$(figure "[.lost[] | select(.[0] > $killed)] | length")" 0
ok "which are few" test "$(figure '.lost | length')" -lt 25

daemon_of_shop() { on 1 cat /run/resource-agents/swansong-shop.pid; }
is_recovered() {
	local pid
	pid=$(daemon_of_shop 2>/dev/null) && [ "$pid" != "$old" ] && has_tree 1
}
old=$(daemon_of_shop)
on 1 kill -KILL "$old"
ok "a daemon that was killed is started again" wait_for 40 is_recovered
is "each service has one copy" "$(on 1 pgrep -fc 'fleet-web.py serve') $(on 1 pgrep -fxc 'sleep infinity')" "1 1"
stage "a daemon is killed"

# A request takes a minute, the stop operation 12 seconds at most.
curl -s --max-time 60 http://10.9.0.1:8080/60 >"$dir/slow" &
slow=$!
cleanup_fn end_process "$slow"
ok "a request is in flight" wait_for 10 in_flight 1
asked=$(now)
standby 1 on
ok "a drain that is longer than the stop operation ends" wait_for 30 has_no_tree 1
stage "a drain that is too long, of $(($(now) - asked)) ms"
ok "the service that is late is killed" on 1 grep -q 'app: killed by SIGKILL' /var/log/shop.log
ok "the operation ends" wait_for 20 shows 'Started: \[ n2 \]$'
ok "and is a success" not shows 'shop_stop|FAILED|blocked'

for node in 2 1; do kill -TERM "${pids[$node]}"; done
ok "the nodes shut down" wait_for 60 gone "${pids[1]}" "${pids[2]}"
end_process "$balancer"
ok "nothing remains" wait_for 10 nobody_else
stage "all is gone"
finish
