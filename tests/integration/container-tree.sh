#!/bin/bash
# The image of contrib/container/Containerfile.tree, and tree.ini in it, as they stand: with nginx and redis
# as a Debian has them, writable, and with as much to write to as the pod of contrib/kubernetes gives it.
. "${0%/*}/lib.sh"
. "${0%/*}/container-lib.sh"
requires_package nginx nginx-light
requires_package redis-server redis-server
[ -e /etc/nginx/nginx.conf ] || skip_all "package nginx-light"
python3 -c 'import yaml' 2>/dev/null || skip_all "package python3-yaml"

[ -x "$top_builddir/swansong-exporter" ] || skip_all "package libmicrohttpd-dev"
requires_podman

# There is no registry: the base image of the Containerfile is made of programs of this machine, with the
# packages that its apt-get would install.
rootfs=$dir/base/rootfs
make_rootfs /usr/sbin/nginx /usr/bin/redis-server \
	"$(program swansongd)=/libraries/d" "$(program swansongctl)=/libraries/ctl" \
	"$(program swansong-logger)=/libraries/logger" "$(program swansong-exporter)=/libraries/exporter" \
	"$(program swansong-sandbox)=/libraries/sandbox"
rm -r "$rootfs/libraries"
mkdir -p "$rootfs"/{bin,etc,run,tmp,dev,proc,sys,usr/local/bin,usr/share/nginx,var/lib/apt/lists,var/log/nginx,var/lib/nginx,var/lib/redis}
for applet in sh rm httpd; do ln -s busybox "$rootfs/bin/$applet"; done
printf '#!/bin/sh\n' >"$rootfs/usr/bin/apt-get"
chmod 755 "$rootfs/usr/bin/apt-get"
cp -rL /etc/nginx "$rootfs/etc/"
rm -rf "$rootfs/etc/nginx/modules-enabled"/* "$rootfs/etc/nginx/sites-enabled"/*
printf 'server { listen 80; location / { proxy_pass http://127.0.0.1:8000; } }\n' \
	>"$rootfs/etc/nginx/sites-enabled/app"
printf '%s\n' root:x:0:0:root:/:/bin/sh www-data:x:33:33:www-data:/:/bin/sh \
	redis:x:100:100:redis:/:/bin/sh >"$rootfs/etc/passwd"
printf '%s\n' root:x:0: www-data:x:33: redis:x:100: >"$rootfs/etc/group"
chmod 1777 "$rootfs/tmp" "$rootfs/var/lib/redis" # the owner is not copied
printf 'FROM scratch\nCOPY rootfs/ /\n' >"$dir/base/Containerfile"
debian=$(sed -n 's/^FROM //p' "$top_srcdir/contrib/container/Containerfile.tree")
ok "the base is built" podman build --network=none -q -t "$debian" "$dir/base"

mkdir "$dir/image"
cp "$top_srcdir"/contrib/container/{Containerfile.tree,tree.ini} "$dir/image/"
cp "$(program swansongd)" "$dir/image/swansongd"
cp "$(program swansongctl)" "$dir/image/swansongctl"
cp "$(program swansong-logger)" "$dir/image/swansong-logger"
cp "$(program swansong-sandbox)" "$dir/image/swansong-sandbox"
cp "$(program swansong-exporter)" "$dir/image/swansong-exporter"
sed -i "s|/usr/libexec/swansong|$pkglibexecdir|" "$dir/image/Containerfile.tree"
printf '#!/bin/sh\necho hello >/run/index.html\nexec httpd -f -p 8000 -h /run\n' >"$dir/image/app"
ok "the image is built" podman build --isolation=chroot "${limits[@]}" --pull-never \
	-f "$dir/image/Containerfile.tree" -t shop "$dir/image"

# The folders that the pod makes writable.
mapfile -t mounts < <(python3 -c '
import sys, yaml
for mount in yaml.safe_load(sys.stdin)["spec"]["containers"][0]["volumeMounts"]:
    print("--tmpfs=" + mount["mountPath"] + ":rw,mode=1777")' <"$top_srcdir/contrib/kubernetes/pod.yaml")

# Of a deployment, and of a job of Nomad.
probes=$(sed -n 's/.*path: \([^,]*\),.*/\1/p; s/.* path *= "\(.*\)"/\1/p' \
	"$top_srcdir/contrib/kubernetes/deployment.yaml" "$top_srcdir/contrib/nomad/shop.nomad.hcl" | sort -u)
# In one command of podman: on a busy machine the drain may be over before a second one begins.
in_drain='echo begun
while swansongctl health -q; do :; done
echo unhealthy
/bin/busybox wget -q -O /dev/null http://127.0.0.1:9633/readyz || echo unready
/bin/busybox wget -q -O /dev/null http://127.0.0.1:9633/healthz && echo alive
/bin/busybox wget -q -O - http://127.0.0.1/'
probe() { podman exec "$1" /bin/busybox wget -q -O /dev/null "http://127.0.0.1:9633$2"; } # BOX PATH

for box in writable pod; do
	more=()
	[ $box = writable ] || more=(--read-only --read-only-tmpfs=false "${mounts[@]}" --security-opt=no-new-privileges)
	run_container $box "${options[@]}" "${more[@]}" shop
	ok "$box: all is ready" podman exec $box swansongctl --timeout 30s wait --for ready
	ok "$box: and healthy" podman exec $box swansongctl health -q
	is "$box: it serves" "$(podman exec $box /bin/busybox wget -q -O - http://127.0.0.1/)" hello
	for path in $probes; do
		ok "$box: the probe $path succeeds" probe $box "$path"
	done
	# podman runs no further command in a container once its own stop has begun.
	podman exec $box /bin/sh -c "$in_drain" >"$dir/drain" 2>"$dir/drain.err" &
	drain=$!
	wait_for 20 says "$dir/drain" begun || die "$box: a command in the container begins"
	ok "$box: SIGTERM begins the shutdown" podman kill -s TERM $box
	wait $drain
	is "$box: during the drain it is not healthy, /readyz fails, /healthz succeeds, and it serves" \
		"$(paste -sd ' ' "$dir/drain")" "begun unhealthy unready alive hello"
	ok "$box: the stop returns" podman stop -t 25 $box
	podman logs $box >"$log" 2>&1
	ok "$box: each line has the name of its node" says "$log" '^[a-z/]+ +\| '
	is "$box: with 0" "$(exit_status $box)" 0
	ok "$box: in order" in_order 'nginx: (exited|SIGQUIT)' 'app: SIGTERM' 'redis: SIGTERM' \
		'exporter: SIGTERM' 'root: complete'
done
finish
