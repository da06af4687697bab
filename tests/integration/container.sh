#!/bin/bash
# PID 1 of a real container: work in progress is finished, and no zombie stays.
. "${0%/*}/lib.sh"
. "${0%/*}/container-lib.sh"
. "${0%/*}/web-tree.sh"
requires_web_tree
requires_podman

# The image: the programs with their libraries, and the tree.
python=$(readlink -f /usr/bin/python3)
make_rootfs "${swansong_in[@]}" "$helpers/orphans=/bin/orphans" /usr/sbin/nginx /usr/bin/redis-server \
	"$python=/usr/bin/python3" /usr/bin/curl
mkdir -p "$rootfs/usr/lib"
cp -r "/usr/lib/${python##*/}" "$rootfs/usr/lib/"
install -D "$top_srcdir/tests/helpers/worker.py" "$rootfs$top_srcdir/tests/helpers/worker.py"
mkdir -p "$rootfs/etc/swansong" "$rootfs/run" "$rootfs/tmp" "$rootfs/var/log/nginx" "$rootfs$dir"
web_tree "$dir" /tmp >"$rootfs/etc/swansong/swansong.ini"
mv "$dir/nginx.conf" "$rootfs$dir/"
printf 'root:x:0:0:root:/:/bin/sh\n' >"$rootfs/etc/passwd"
printf 'root:x:0:\n' >"$rootfs/etc/group"
cp "$top_srcdir/contrib/container/Containerfile" "$dir/image/"
ok "the image is built" podman build --network=none -q -t tree "$dir/image"

inside() { podman exec "$box" "$@"; }
busybox() { inside /bin/busybox "$@"; }
logs() { podman logs "$box" >"$log" 2>&1; }
logged() { logs && says "$log" "$1"; }

for box in writable read-only; do
	more=()
	[ $box = writable ] || more=(--read-only) # with /run and /tmp in memory
	run_container $box "${options[@]}" "${more[@]}" tree
	ok "$box: the tree is ready" inside swansongctl --timeout 30s wait --for ready
	is "$box: the keeper is PID 1" "$(busybox cat /proc/1/comm)" swansong-keeper
	busybox pkill -KILL -x swansongd
	tree_answers() { inside swansongctl wait --for ready --timeout 10s >/dev/null; }
	ok "$box: a daemon that is killed goes on" wait_for 10 tree_answers
	like "$box: the tree answers" "$(inside curl -s http://127.0.0.1:8080/)" '^visit 1$'
	inside orphans 50
	no_zombies() { [[ ! $(busybox ps -o stat) =~ Z ]]; }
	ok "$box: orphans are reaped" wait_for 5 no_zombies

	inside curl -s -o /dev/null -w '%{http_code} %{size_download}' \
		http://127.0.0.1:8080/slow >"$dir/answer" &
	asker=$!
	wait_for 10 logged 'slow request has begun' || die "$box: a slow request is in flight"
	began=$(now)
	podman stop -t 60 "$box" >/dev/null &
	stopper=$!
	ok "$box: the stop is under way" wait_for 10 logged 'ShuttingDown|shutting down|shutdown'
	ok "$box: still no zombie" no_zombies
	ok "$box: stop returns" wait "$stopper"
	within "$box: as soon as the request is answered" $(($(now) - began)) 1500 20000
	wait "$asker"
	logs
	ok "$box: the request was finished" says "$log" 'worker: answered /slow'
	ok "$box: and required services ended last" in_order \
		'#[0-9]+: exit$' 'worker: done' 'Received SIGTERM' 'bye bye'
	is "$box: the exit status is 0" "$(exit_status "$box")" 0
done

# Files that a run leaves in the writable layer do not prevent the next one: the first run ended in order,
# this one is killed, with its socket, its lock and the files of redis and nginx.
box=writable
podman start "$box" >/dev/null
ok "a second life of a container" inside swansongctl --timeout 30s wait --for ready
ok "the control socket is in the writable layer" not busybox grep -q ' /run ' /proc/mounts
podman kill -s KILL "$box" >/dev/null
podman wait "$box" >/dev/null
podman start "$box" >/dev/null
ok "and one over the files of a killed one" inside swansongctl --timeout 30s wait --for ready
ok "answer" inside swansongctl health -q
like "and serve" "$(inside curl -s http://127.0.0.1:8080/)" '^visit'
podman stop -t 60 "$box" >/dev/null
is "and end well" "$(exit_status "$box")" 0
finish
