#!/bin/bash
# The image of contrib/container/Containerfile.source under a dockerd of its own: built FROM scratch, healthy, its
# output with the names of nodes, and `docker stop` waits for the drain.
. "${0%/*}/lib.sh"
requires_root
for program in dockerd docker; do
	[ -x "/usr/sbin/$program" ] || [ -x "/usr/bin/$program" ] ||
		skip_all "machine: no $program (Debian: docker.io)"
done
requires_package busybox busybox-static

# Of the package, a client of the same version.
docker() { /usr/bin/docker --host "unix://$dir/docker/socket" "$@"; }
mkdir "$dir/docker"
# The root of some machines cannot be left by pivot_root(2).
export DOCKER_RAMDISK=1 DOCKER_BUILDKIT=0 DOCKER_CONFIG=$dir/docker
dockerd --data-root "$dir/docker/data" --exec-root "$dir/docker/exec" --pidfile "$dir/docker/pid" \
	--host "unix://$dir/docker/socket" --storage-driver vfs --bridge none --iptables=false \
	>"$dir/docker/log" 2>&1 &
dockerd=$!
end_dockerd() {
	kill -TERM "$dockerd" 2>/dev/null
	wait_for 20 gone "$dockerd" || end_process "$dockerd"
}
cleanup_fn end_dockerd
dockerd_answers() { gone "$dockerd" || docker version >/dev/null 2>&1; }
wait_for 30 dockerd_answers
docker version >"$dir/version" 2>&1 ||
	skip_all "machine: dockerd does not start here ($(grep -v level=info "$dir/docker/log" | tail -n 1))"

# --- The image: the last stage as it is, with a check each second, and a tree ------------------------------

rootfs=$dir/image/rootfs
"$top_srcdir/contrib/container/mkrootfs" "$rootfs" "$(command -v busybox)=/bin/busybox" \
	"$(program swansongd)=/usr/sbin/swansongd" "$(program swansongctl)=/usr/bin/swansongctl" \
	"$(program swansong-logger)=$pkglibexecdir/swansong-logger" 2>"$dir/ldd" || die "the image is made"
# The configuration that is built in, and the place of the control socket.
mkdir -p "$rootfs$sysconfdir/swansong" "$rootfs/run" "$rootfs/tmp"
cat >"$rootfs$sysconfdir/swansong/swansong.ini" <<'END_OF_TREE'
[web]
command = /bin/busybox sh -c 'trap "echo finished; exit 0" TERM; echo serving; while :; do busybox sleep 0.1; done'
ready = log:serving
requires = store
drain-delay = 3s
[store]
command = /bin/busybox sleep 1000
END_OF_TREE
sed -n '/^FROM scratch/,$p' "$top_srcdir/contrib/container/Containerfile.source" |
	sed 's|^COPY .*|COPY rootfs /\nENV PATH=/usr/bin:/bin|; s/--interval=[0-9]*s/--interval=1s/' >"$dir/image/Dockerfile"
ok "docker builds the image FROM scratch" docker build --network none -q -t tree "$dir/image"

healthy() { [ "$(docker inspect -f '{{.State.Health.Status}}' "$1")" = healthy ]; } # NAME
inspected() { docker inspect -f "{{.State.$2}}" "$1"; }                             # NAME FIELD
run() { # NAME OPTION...
	local name=$1
	shift
	docker run -d --name "$name" --network none "$@" tree >"$dir/run" 2>&1 ||
		skip_all "machine: dockerd runs no container here ($(tail -n 1 "$dir/run"))"
	ok "$name: by HEALTHCHECK the tree is healthy for docker" wait_for 30 healthy "$name"
}
stop() { # NAME GRACE: in $took milliseconds; the output is in $log
	local began
	began=$(now)
	ok "$1: docker stop succeeds" docker stop -t "$2" "$1"
	took=$(($(now) - began))
	docker logs "$1" >"$log" 2>&1
}

# --- A stop waits for the drain ---------------------------------------------------------------------------

run enough --read-only --tmpfs /run --cap-drop all --security-opt no-new-privileges
is "the keeper is PID 1" "$(docker exec enough busybox cat /proc/1/comm)" swansong-keeper
stop enough 30
within "enough: after the drain of 3 s, long before the grace of 30 s is over" "$took" 3000 15000
is "enough: the exit status is 0" "$(inspected enough ExitCode)" 0
ok "enough: each line has the name of its node" says "$log" '^web +\| serving$'
ok "enough: the service finished" says "$log" '^web +\| finished$'
ok "enough: its requirement was stopped afterwards" in_order 'web: SIGTERM' 'web: exited' 'store: SIGTERM' 'root: complete'

# --- A grace that is shorter than the drain: docker kills nothing ---------------------------------------------------

run short --env SWANSONG_GRACE=2s
stop short 2
is "short: swansongd shortens the drain and ends within the grace" "$(inspected short ExitCode)" 0
ok "short: the service finished" says "$log" '^web +\| finished$'
finish
