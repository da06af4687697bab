#!/bin/bash
# The virtual IP address of contrib/pacemaker/README.md: a tree runs on one node, and an address moves with it.  Each
# order of the two loses requests, so the figures are printed, and only the rest is tested.
. "${0%/*}/lib.sh"
. "${0%/*}/fleet-lib.sh"

virtual=10.9.0.100
ip='<primitive id="address" class="ocf" provider="heartbeat" type="IPaddr2">
	<instance_attributes id="a"><nvpair id="a1" name="ip" value="'$virtual'"/><nvpair id="a2" name="cidr_netmask" value="24"/>
	</instance_attributes><operations><op id="am" name="monitor" interval="2s" timeout="10s"/></operations></primitive>'

start_cluster
tree=$(sed -n '/<primitive/,/<\/primitive>/p' "$nodes/1/root/root/cib.xml")
for node in 1 2 3; do
	# No balancer is notified.
	sed -i '/^# The balancer/,$d' "$nodes/$node/root/etc/swansong/shop.ini"
	echo "<resources><group id='first'>$ip$tree</group></resources>" >"$nodes/$node/root/root/address.xml"
	echo "<resources><group id='last'>$tree$ip</group></resources>" >"$nodes/$node/root/root/tree.xml"
done

holder() { curl -sf --max-time 1 "http://$virtual:8080/0"; }
has_moved() { [[ $(holder) == n[123] && $(holder) != "$old" ]]; }
moves() { # NAME COMMAND...: the command makes it move
	local name=$1 asked
	shift
	old=$(holder)
	load "$virtual:8080"
	wait_for 10 in_flight "${old#n}"
	asked=$(now)
	"$@"
	ok "$name: another node answers" wait_for 40 has_moved
	echo "# after $(($(now) - asked)) ms"
	load_ends
	figure '"lost: \(.lost | length) of \(.sent): \([.lost[][1]] | unique)"' | comment
}

for order in address tree; do
	ok "a group that starts with the $order is accepted" \
		wait_for 30 on 1 cibadmin --replace --scope resources --xml-file /root/$order.xml
	old=
	ok "a node answers" wait_for 60 has_moved
	old=$(holder)
	moves "a standby" standby "${old#n}" on
	standby "${old#n}" off
done
# The tree starts before the address, on the node that asks nothing of the cluster.
[ "$(holder)" != n1 ] || moves "n1 on standby" standby 1 on
old=$(holder)
moves "a node is killed" kill -KILL "${pids[${old#n}]}"
finish
