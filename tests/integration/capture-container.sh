#!/bin/bash
# The output of a container: each line of its services has the name of its node, on the stream it was
# written to.
. "${0%/*}/lib.sh"
. "${0%/*}/container-lib.sh"
requires_podman

make_rootfs "${swansong_in[@]}"
mkdir -p "$rootfs/etc/swansong" "$rootfs/run" "$rootfs/tmp"
cat >"$rootfs/etc/swansong/swansong.ini" <<END
[web/app]
command = /bin/busybox sh -c 'echo out; echo err >&2; exec /bin/busybox sleep 1000000'
[web/job]
command = /bin/busybox sh -c 'for n in 1 2 3; do echo "line \$n"; done'
type = oneshot
[json]
command = /bin/busybox echo object
type = oneshot
log-format = json
END
cp "$top_srcdir/contrib/container/Containerfile" "$dir/image/"
ok "the image is built" podman build --network=none -q -t captured "$dir/image"
run_container box "${options[@]}" captured

logs() { podman logs box >"$dir/out" 2>"$log"; }
logged() { logs && says "$1" "$2"; } # FILE REGEX
ok "standard output of the container has lines with names" wait_for 20 logged "$dir/out" '^web/app \| out$'
ok "standard error has the lines of standard error" wait_for 20 logged "$log" '^web/app \| err$'
ok "a oneshot has all of its lines" wait_for 20 logged "$dir/out" '^web/job \| line 3$'
is "in their order" "$(sed -n 's|^web/job . ||p' "$dir/out" | tr '\n' ',')" "line 1,line 2,line 3,"
ok "an object is a line" wait_for 20 logged "$dir/out" '^{'
is "which names its node" "$(grep '^{' "$dir/out" | jq -r '[.node, .stream, .message] | join(" ")')" "json stdout object"
ok "the daemon's own lines are on standard error alone" not says "$dir/out" '^swansongd:'
podman stop -t 20 box >/dev/null
is "the end is graceful" "$(exit_status box)" 0
finish
