# shellcheck shell=bash
# For tests of a cluster, after lib.sh: nodes of Pacemaker, each with swansongd as PID 1, and a balancer.
#
# $FLEET_ROOT is a Debian with the packages, which .ci/fleet makes and keeps; each node has an overlay of it, in
# namespaces of its own.  The network of the test is the switch between them.
requires_root
requires_package python3 python3
: "${FLEET_ROOT:=}"
[ -x "$FLEET_ROOT/usr/sbin/pacemakerd" ] || skip_all "machine: no Debian with Pacemaker: .ci/fleet makes one"

nodes=$dir/nodes
address=10.9.0.254
mkdir "$nodes"
mount -t tmpfs tmpfs "$nodes" || skip_all "machine: cannot mount a tmpfs"
cleanup_fn umount --recursive --lazy "$nodes"
ip link add bridge type bridge 2>/dev/null || skip_all "machine: no bridge in the kernel"
ip addr add $address/24 dev bridge
ip link set bridge up

# --- A node --------------------------------------------------------------------------------------

overlay() { # NUMBER
	mkdir -p "$nodes/$1/"{upper,work,root}
	mount -t overlay overlay -o "lowerdir=$FLEET_ROOT,upperdir=$nodes/$1/upper,workdir=$nodes/$1/work" "$nodes/$1/root" ||
		skip_all "machine: no overlays"
	install_programs "$nodes/$1/root"
	configure "$nodes/$1/root"
}

# The paths that the agent presumes.
agent=$top_builddir/contrib/pacemaker/swansong
default_of() { sed -n "s/^: \"\${OCF_RESKEY_$1=\(.*\)}\"/\1/p" "$agent"; } # PARAMETER
node_swansongd=$(default_of daemon) node_swansongctl=$(default_of ctl)

install_programs() { # ROOT
	install -D "$(program swansongd)" "$1$node_swansongd"
	install -D "$(program swansongctl)" "$1$node_swansongctl"
	install -D "$(program swansong-logger)" -t "$1$pkglibexecdir"
	install -D "$agent" -t "$1/usr/lib/ocf/resource.d/swansong"
	install "$top_srcdir/tests/helpers/fleet-web.py" "$1/usr/local/bin/"
}

configure() { # ROOT
	mkdir -p "$1/etc/swansong" "$1/var/log/corosync"
	cat >"$1/etc/node.ini" <<-'END'
		[swansong]
		shutdown-timeout = 60s
		[corosync]
		command = corosync -f
		ready = exec:corosync-cmapctl -g totem.cluster_name
		start-timeout = 30s
		[pacemaker]
		command = pacemakerd -f
		requires = corosync
		stop-timeout = 45s
		restart = never
	END
	cat >"$1/etc/swansong/shop.ini" <<-'END'
		[store]
		command = sleep infinity
		[app]
		command = python3 /usr/local/bin/fleet-web.py serve 8080
		requires = store
		ready = tcp:127.0.0.1:8080
		stop-timeout = 60s
		# The balancer learns of the stop before the application does.
		agent = tcp:0.0.0.0:8081
		drain-delay = 1500ms
	END
	cat >"$1/etc/corosync/corosync.conf" <<-'END'
		totem {
			version: 2
			cluster_name: fleet
			transport: knet
			crypto_cipher: none
			crypto_hash: none
			token: 2000
		}
		quorum {
			provider: corosync_votequorum
		}
		nodelist {
			node {
				name: n1
				nodeid: 1
				ring0_addr: 10.9.0.1
			}
			node {
				name: n2
				nodeid: 2
				ring0_addr: 10.9.0.2
			}
			node {
				name: n3
				nodeid: 3
				ring0_addr: 10.9.0.3
			}
		}
	END
	# Without fencing; and the first election does not wait 20 seconds for other nodes.
	cat >"$1/var/lib/pacemaker/cib/cib.xml" <<-'END'
		<cib crm_feature_set="3.0.14" validate-with="pacemaker-3.0" epoch="1" num_updates="0" admin_epoch="1">
		<configuration><crm_config><cluster_property_set id="options">
		<nvpair id="stonith" name="stonith-enabled" value="false"/><nvpair id="deadtime" name="dc-deadtime" value="1s"/>
		</cluster_property_set></crm_config><nodes/><resources/><constraints/></configuration><status/></cib>
	END
	chmod 600 "$1/var/lib/pacemaker/cib/cib.xml"
	chown "$(awk -F: '$1 == "hacluster" { print $3 ":" $4 }' "$1/etc/passwd")" "$1/var/lib/pacemaker/cib/cib.xml"
	# The resource of the example, with a short stop, and a failure that is seen soon.
	sed 's/"100s"/"12s"/; s/interval="10s"/interval="2s"/' "$top_srcdir/contrib/pacemaker/cib.xml" >"$1/root/cib.xml"
}

# The first process of a node, until it becomes swansongd.
become_node() { # NUMBER ROOT PROGRAM
	set -e
	hostname "n$1"
	cd "$2"
	mount --bind . .
	cd "$2"
	mount -t proc proc proc
	mount -t sysfs sysfs sys
	for folder in run tmp; do mount -t tmpfs tmpfs $folder; done
	# Where all may write, the kernel opens only devices of root for a redirection, and podman may have given them away.
	mount -t tmpfs -o mode=755 tmpfs dev
	for device in null zero full random urandom; do
		touch dev/$device
		mount --bind /dev/$device dev/$device
	done
	mkdir dev/shm run/lock .old
	mount -t tmpfs tmpfs dev/shm
	ln -s /proc/self/fd dev/fd
	# The other end of the cable comes from outside.
	until ip link show eth0 >/dev/null 2>&1; do sleep 0.02; done
	ip link set lo up
	ip addr add "10.9.0.$1/24" dev eth0
	ip link set eth0 up
	pivot_root . .old
	umount -l /.old
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C "$3" -c /etc/node.ini
}

pids=()
start_node() { # NUMBER
	local become unshare
	# Not substituted in the command: its shell would be a child of that, too, and perhaps taken for the node.
	become=$(declare -f become_node)
	overlay "$1"
	unshare --net --mount --uts --ipc --pid --fork --kill-child --propagation private \
		bash -c "$become; become_node $1 $nodes/$1/root $node_swansongd" </dev/null >>"$log" 2>&1 &
	unshare=$!
	disown "$unshare"
	wait_for 30 pgrep -P "$unshare" >/dev/null || die "node $1 starts"
	pids[$1]=$(pgrep -P "$unshare")
	ip link add "veth$1" type veth peer name eth0 netns "${pids[$1]}"
	ip link set "veth$1" master bridge up
}

on() { # NUMBER COMMAND...
	local pid=${pids[$1]}
	shift
	nsenter -t "$pid" -m -n -u -i -p --root --wd -- \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C "$@" </dev/null
}
shop() { # NUMBER COMMAND...: to the tree of a node
	local node=$1
	shift
	on "$node" "$node_swansongctl" -s /run/swansong/shop.sock "$@"
}

# --- The cluster ---------------------------------------------------------------------------------

monitor() { on 1 crm_mon -1 2>&1; }
shows() { monitor | grep -Eq -- "$1"; } # REGEX
standby() { # NUMBER on|off
	on 1 crm_attribute -q -N "n$1" -n standby -v "$2" -l reboot >/dev/null
}
has_tree() { shop "$1" health >/dev/null 2>&1; } # NUMBER
has_no_tree() { ! on "$1" pgrep -f fleet-web >/dev/null; }

# --- The load ------------------------------------------------------------------------------------

start_balancer() {
	overlay 0
	cat >"$nodes/0/root/etc/balancer.cfg" <<-'END'
		defaults
			mode http
			timeout connect 1s
			timeout client 10s
			timeout server 5s
			retries 3
			option redispatch 1
			retry-on conn-failure
		frontend front
			bind 10.9.0.254:80
			default_backend shop
		backend shop
			default-server check inter 300ms fall 2 rise 1 agent-check agent-port 8081 agent-inter 300ms
			server n1 10.9.0.1:8080
			server n2 10.9.0.2:8080
			server n3 10.9.0.3:8080
	END
	chroot "$nodes/0/root" haproxy -db -f /etc/balancer.cfg >>"$dir/balancer" 2>&1 &
	balancer=$!
	cleanup_fn end_process "$balancer"
}
answer() { curl -sf --max-time 5 "http://$address/0"; }
answers_from() { [ "$(answer)" = "$1" ]; } # NODE

# Port 8080 has a connection.
in_flight() { on "$1" grep -q ':1F90 [^ ]* 01 ' /proc/net/tcp; } # NODE

load() { # [ADDRESS]
	python3 "$top_srcdir/tests/helpers/fleet-web.py" load "${1:-$address}" 50 >"$dir/load" &
	asking=$!
	cleanup_fn end_process "$asking"
}
load_ends() {
	kill -TERM "$asking"
	wait "$asking"
	comment <"$dir/load"
}
figure() { jq -r "$1" "$dir/load"; } # JQ

start_cluster() {
	local node
	for node in 1 2 3; do start_node $node; done
	wait_for 30 on 1 pgrep -x corosync >/dev/null || {
		comment <"$log"
		die "a node starts"
	}
	wait_for 90 shows 'Online: \[ n1 n2 n3 \]' || die "three nodes make a cluster"
	stage "a cluster"
}

began=$(now)
stage() { echo "# $((($(now) - began) / 1000)) s: $*"; }
