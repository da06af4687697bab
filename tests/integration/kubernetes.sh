#!/bin/bash
# The pod and the deployment of contrib/kubernetes, as podman plays them: probes answer, and the end is in order.
. "${0%/*}/lib.sh"
. "${0%/*}/container-lib.sh"
python3 -c 'import yaml' 2>/dev/null || skip_all "package python3-yaml"

pod=$top_srcdir/contrib/kubernetes/pod.yaml
to_json() { python3 -c 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)'; }
to_json <"$pod" >"$dir/pod.json"
export CONTAINERS_CONF=$dir/containers.conf
# A pod of podman needs control groups, but not every machine has them with the device filter of crun; and the
# infrastructure image is built here.
# shellcheck disable=SC2034  # for what is sourced
podman_options=(--runtime-flag=cgroup-manager=disabled)
cat >"$CONTAINERS_CONF" <<'END'
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
infra_image = "localhost/infra"
END
requires_podman
# Where all controllers are those of version 1, podman fails to enable none.
if [ ! -s /sys/fs/cgroup/cgroup.controllers ]; then
	mkdir /sys/fs/cgroup/libpod_parent
	for group in "" /libpod_parent; do
		mount --bind /dev/null "/sys/fs/cgroup$group/cgroup.subtree_control"
	done
fi

# The image that pod.yaml names, with a tree of its own, and nothing of a registry.
[ -x "$top_builddir/swansong-exporter" ] || skip_all "package libmicrohttpd-dev"
make_rootfs "${swansong_in[@]}" "$(program swansong-init)=/usr/bin/swansong-init" "$helpers/idle=/bin/idle" \
	"$(program swansong-exporter)=/usr/bin/swansong-exporter"
ln -s busybox "$rootfs/bin/sh"
mkdir -p "$rootfs/etc/swansong" "$rootfs/run" "$rootfs/tmp"
cat >"$rootfs/etc/swansong/swansong.ini" <<'END'
[swansong]
shutdown-timeout = 20s
[app]
command = sh -c 'trap "echo app: finishing; until [ -e /run/finish ]; do busybox sleep 0.1; done; busybox sleep 1; echo app: done; exit 0" TERM; echo app: up; while :; do busybox sleep 0.1; done'
requires = redis
ready = log:app: up
[redis]
command = idle
after = exporter
[exporter]
command = swansong-exporter --listen 0.0.0.0:9633
ready = notify
END
cat >"$dir/image/shop" <<'END'
FROM scratch
COPY rootfs /
ENTRYPOINT ["/usr/sbin/swansongd", "-c", "/etc/swansong/swansong.ini"]
END
sed 's|"/.*"|"/usr/bin/swansong-init", "-P"|' "$dir/image/shop" >"$dir/image/infra"
for image in shop infra; do
	podman build --network=none -q -f "$dir/image/$image" -t "$image" "$dir/image" >"$dir/build" 2>&1 ||
		die "the image $image is built: $(cat "$dir/build")"
done

cleanup_fn podman pod rm -f -t 0 shop
podman kube play --network=none "$pod" >"$dir/play" 2>&1 ||
	skip_all "machine: podman plays no pod here ($(grep -v '^$' "$dir/play" | tail -n 1))"
box=shop-tree
inside() { podman exec "$box" "$@"; }

# The commands of the probes and of preStop, run as a kubelet would run them.
probe() { # NAME
	local command
	mapfile -t command < <(jq -r ".spec.containers[0].$1.exec.command[]" "$dir/pod.json")
	inside "${command[@]}"
}
ok "the startup probe answers in the end" wait_for 30 probe startupProbe
ok "so does the readiness probe" probe readinessProbe
ok "and the liveness probe" probe livenessProbe
is "swansongd is PID 1" "$(inside busybox cat /proc/1/comm)" swansongd
grace=$(jq .spec.terminationGracePeriodSeconds "$dir/pod.json")
ok "a shutdown fits the grace of the pod, by its own file" inside swansongctl plan --config \
	/etc/swansong/swansong.ini --grace "${grace}s"
ok "and it fits SWANSONG_GRACE" inside swansongctl plan --quiet
is "indeed" "$(inside swansongctl plan --json | jq .grace_usec)" "${grace}000000"

inside swansongctl signal KILL redis >"$dir/kill" 2>&1
ok "a restart of a service is no end of the pod" probe livenessProbe
ok "and is ready again" wait_for 30 probe readinessProbe

# --- The end, as a kubelet brings it about ----------------------------------------------------------

began=$(now)
ok "preStop begins it" probe lifecycle.preStop
ok "from then on the pod is not ready" not probe readinessProbe
ok "the app may finish" inside busybox touch /run/finish
ok "the stop returns" podman stop -t "$grace" shop-tree
within "long before the grace is over" $(($(now) - began)) 0 $((grace * 1000 - 5000))
is "the exit status is 0" "$(exit_status shop-tree)" 0
podman logs shop-tree >"$log" 2>&1
ok "the app finished its work" says "$log" '^app +\| app: done$'
ok "and all was in order" in_order 'app: exited with status 0' 'redis: SIGTERM' 'root: complete'
ok "and nothing was killed" not says "$log" ': killing|forced'
ok "the pod is taken down" podman kube down "$pod"
is "and is gone" "$(podman pod ps -q)" ""

# --- The deployment: one of its pods, with the entry point of the image and probes by HTTP ------------------

# Without its ports, for which podman wants a network of its own: a probe has the number instead of the name.
python3 -c '
import json, sys, yaml
deployment = next(yaml.safe_load_all(sys.stdin))
for container in deployment["spec"]["template"]["spec"]["containers"]:
    numbers = {port["name"]: port["containerPort"] for port in container.pop("ports")}
    for probe in "startupProbe", "readinessProbe", "livenessProbe":
        http = container[probe]["httpGet"]
        http["port"] = numbers[http["port"]]
json.dump(deployment, sys.stdout)' <"${pod%/*}/deployment.yaml" >"$dir/deployment.yaml"
podman kube play --network=none "$dir/deployment.yaml" >"$dir/play" 2>&1 ||
	die "the deployment is played: $(cat "$dir/play")"
box=$(podman ps --format '{{.Names}}' | grep -- '-tree$')
http() { inside busybox wget -q -O /dev/null "http://127.0.0.1:9633$1"; } # PATH
ok "/startupz succeeds in the end" wait_for 30 http /startupz
ok "so does /readyz" http /readyz
ok "and /healthz" http /healthz
ok "SIGTERM begins the shutdown" podman kill -s TERM "$box"
ok "/readyz fails, and the pod gets no more requests" wait_for 10 not http /readyz
ok "/healthz succeeds until the end" http /healthz
ok "the app of the deployment may finish" inside busybox touch /run/finish
ok "its stop returns" podman stop -t "$grace" "$box"
is "with exit status 0" "$(exit_status "$box")" 0
# A mount of a container that has just ended may be busy: podman does not find the pod by its name any more then.
is_down() {
	podman kube down "$dir/deployment.yaml" >>"$dir/down" 2>&1 || podman pod rm --all --force >>"$dir/down" 2>&1
	[ -z "$(podman pod ps -q)" ]
}
ok "the deployment is taken down" wait_for 60 is_down
comment <"$dir/down"

to_json <"${pod%/*}/sidecar.yaml" >"$dir/sidecar.json"
is "a native sidecar is one" "$(jq -r '.spec.initContainers[].restartPolicy' "$dir/sidecar.json")" Always
finish
