# shellcheck shell=bash
# For tests in real containers, after lib.sh.  Images and state are in a folder for this test alone; there is
# no registry.

requires_root
requires_package podman podman
requires_package crun crun
requires_package busybox busybox-static

# The images and the state of podman, whose driver vfs works on any file system.
export PODMAN_ROOT=$dir/podman
podman_options=() # of each command
podman() { "$top_srcdir/tests/integration/with-podman" "${podman_options[@]}" "$@"; }

requires_podman() { # skips unless all that the options need is there
	podman info >"$dir/info" 2>&1 ||
		skip_all "machine: podman does not run here ($(tail -n 1 "$dir/info"))"
}

# The folder of an image: the programs with their libraries, and busybox.
rootfs=$dir/image/rootfs
make_rootfs() { # PROGRAM[=PLACE]...
	"$top_srcdir/contrib/container/mkrootfs" "$rootfs" "$(command -v busybox)=/bin/busybox" "$@" ||
		die "the image is made"
}
swansong_in=("$(program swansongd)=/usr/sbin/swansongd" "$(program swansongctl)=/usr/bin/swansongctl"
	"$(program swansong-logger)=$pkglibexecdir/swansong-logger")

# No network but the container's own loopback; limits that any machine can give.
limits=(--ulimit nofile=4096:4096 --ulimit nproc=4096:4096)
options=(--network=none --cgroups=disabled "${limits[@]}")
: "${swansong_in[@]}" "${options[@]}" # for the stories

run_container() { # NAME ARGUMENT-OF-RUN...
	local name=$1
	shift
	podman run -d --name "$name" "$@" >"$dir/run" 2>&1 ||
		die "$name: the container starts: $(cat "$dir/run")"
	cleanup_fn podman rm -f -t 0 "$name"
}
exit_status() { podman inspect -f '{{.State.ExitCode}}' "$1"; } # NAME
