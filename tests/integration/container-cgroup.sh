#!/bin/bash
# PID 1 of a real container that may write to its control group: services have groups, and exec works.
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"
. "${0%/*}/container-lib.sh"
requires_podman

make_rootfs "${swansong_in[@]}" "$helpers/idle=/bin/idle"
ln -s busybox "$rootfs/bin/sh"
mkdir -p "$rootfs/etc/swansong" "$rootfs/run" "$rootfs/tmp"
cat >"$rootfs/etc/swansong/swansong.ini" <<'END'
[web/idle]
command = idle
[escaper]
command = sh -c '(busybox setsid busybox env -i idle &); exec idle'
END
cat >"$dir/image/Containerfile" <<'END'
FROM scratch
COPY rootfs /
ENTRYPOINT ["/usr/sbin/swansongd", "-v", "-c", "/etc/swansong/swansong.ini"]
END
podman build --network=none -q -t tree "$dir/image" >/dev/null || die "the image is built"

# Privileged, as the control groups are writable then.  No limits that need a controller.
podman run -d --name box --network=none --privileged --cgroupns=private \
	--cgroup-parent="${cgroup#"$cgroup_mount"}" --pids-limit=-1 \
	"${limits[@]}" tree >"$dir/run" 2>&1 ||
	skip_all "machine: podman makes no control groups here ($(tail -n 1 "$dir/run"))"
cleanup_fn podman rm -f -t 0 box

inside() { podman exec box "$@"; }
busybox() { inside /bin/busybox "$@"; }
ok "the tree is ready" inside swansongctl --timeout 30s wait --for ready
group_of() { busybox sed -n 's/^0:://p' "/proc/$1/cgroup"; } # PID
pid_of() { inside swansongctl status --json | jq -r --arg path "$1" \
	'.nodes[] | select(.path == $path) | .service.pid'; } # NODE
like "swansongd has moved into a group of its own" "$(group_of 1)" '^/swansongd-[0-9a-f]*$'
like "a service has one" "$(group_of "$(pid_of web/idle)")" '^/swansong-[0-9a-f]*/node:web:idle$'
escaped() {
	inside swansongctl guards --json | jq -r \
		'[.guards[] | select(.node == "escaper") | .kind] | sort | join(" ")'
}
is_found() { [ "$(escaped)" = "leftover process" ]; }
ok "an escaped process is found" wait_for 10 is_found
ok "the stop returns" podman stop -t 30 box
is "the exit status is 0" "$(exit_status box)" 0
finish
