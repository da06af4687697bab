#!/bin/bash
# The pod of contrib/kubernetes, as podman plays it: its probes answer, and its end is in order.
. "${0%/*}/lib.sh"
. "${0%/*}/container-lib.sh"
python3 -c 'import yaml' 2>/dev/null || skip_all "package python3-yaml"

pod=$top_srcdir/contrib/kubernetes/pod.yaml
to_json() { python3 -c 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)'; }
to_json <"$pod" >"$dir/pod.json"
export CONTAINERS_CONF=$dir/containers.conf
# A pod cannot do without control groups in podman, but with crun's device filter in them not on every
# machine; and what is infrastructure elsewhere is an image of its own here.
# shellcheck disable=SC2034  # for what is sourced
podman_options=(--runtime-flag=cgroup-manager=disabled)
cat >"$CONTAINERS_CONF" <<'END'
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
infra_image = "localhost/infra"
END
requires_podman

# The image that pod.yaml names, with a tree of its own, and nothing of a registry.
make_rootfs "${swansong_in[@]}" "$(program swansong-init)=/usr/bin/swansong-init" "$helpers/idle=/bin/idle"
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
END
printf 'FROM scratch\nCOPY rootfs /\nENTRYPOINT ["/usr/bin/swansong-init", "-P"]\n' >"$dir/image/Containerfile"
for image in shop infra; do
	podman build --network=none -q -t "$image" "$dir/image" >"$dir/build" 2>&1 ||
		die "the image $image is built: $(cat "$dir/build")"
done

down() { podman kube down "$pod" >"$dir/down" 2>&1; }
cleanup_fn podman pod rm -f -t 0 shop
podman kube play --network=none "$pod" >"$dir/play" 2>&1 ||
	skip_all "machine: podman plays no pod here ($(grep -v '^$' "$dir/play" | tail -n 1))"
inside() { podman exec shop-tree "$@"; }

# The commands of the probes and of preStop, run as a kubelet would run them.
probe() { # NAME
	local command
	mapfile -t command < <(jq -r ".spec.containers[0].$1.exec.command[]" "$dir/pod.json")
	inside "${command[@]}"
}
# The check of contrib/nomad asks the same; to Consul 1 would be a warning only.
nomad_check() { inside /bin/sh -c \
	"$(sed -n 's/.*args *= \["-c", "\(.*\)"\]/\1/p' "$top_srcdir/contrib/nomad/shop.nomad.hcl")"; }
ok "the startup probe answers in the end" wait_for 30 probe startupProbe
ok "so does the readiness probe" probe readinessProbe
ok "and the liveness probe" probe livenessProbe
ok "and the check for Nomad" nomad_check
is "swansongd is PID 1" "$(inside busybox cat /proc/1/comm)" swansongd
grace=$(jq .spec.terminationGracePeriodSeconds "$dir/pod.json")
ok "a shutdown fits the grace of the pod, by its own file" inside swansongctl plan --config \
	/etc/swansong/swansong.ini --grace "${grace}s"
ok "and that of SWANSONG_GRACE, which is the same" inside swansongctl plan --quiet
is "indeed" "$(inside swansongctl plan --json | jq .grace_usec)" "${grace}000000"

inside swansongctl signal KILL redis >"$dir/kill" 2>&1
ok "what is restarted is no end of the pod" probe livenessProbe
ok "and is ready again" wait_for 30 probe readinessProbe

# --- The end, as a kubelet brings it about ----------------------------------------------------------

began=$(now)
ok "preStop begins it" probe lifecycle.preStop
ok "from then on the pod is not ready" not probe readinessProbe
nomad_check >"$dir/check" 2>&1
is "nor the job for Nomad" "$?" 2
ok "the app may finish" inside busybox touch /run/finish
ok "the stop returns" podman stop -t "$grace" shop-tree
within "long before the grace is over" $(($(now) - began)) 0 $((grace * 1000 - 5000))
is "the exit status is 0" "$(exit_status shop-tree)" 0
podman logs shop-tree >"$log" 2>&1
ok "the app finished what it had" says "$log" '^app: done'
ok "and all was in order" in_order 'app: exited with status 0' 'redis: SIGTERM' 'root: complete'
ok "and nothing was killed" not says "$log" ': killing|forced'
ok "the pod is taken down" down
is "and is gone" "$(podman pod ps -q)" ""

to_json <"${pod%/*}/sidecar.yaml" >"$dir/sidecar.json"
is "a native sidecar is one" "$(jq -r '.spec.initContainers[].restartPolicy' "$dir/sidecar.json")" Always
finish
