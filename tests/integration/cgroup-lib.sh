# shellcheck shell=bash
# For tests of control groups, after lib.sh: $cgroup is a group of version 2 for this test alone, and
# swansongd is started in it, as a manager or a container would.

requires_root
cgroup_mount=/sys/fs/cgroup
cgroup=$(mktemp -d "$cgroup_mount/test.XXXXXX" 2>/dev/null) ||
	skip_all "machine: no control group can be made in $cgroup_mount"

in_cgroup() { # COMMAND...
	echo "$BASHPID" >"$cgroup/cgroup.procs" && exec "$@"
}
swansongd_in_cgroup() { in_cgroup "$top_builddir/swansongd" "$@"; }
swansongd=swansongd_in_cgroup
: "$swansongd" # for the stories

cgroup_is_empty() { says "$cgroup/cgroup.events" 'populated 0'; }
remove_cgroup() {
	echo 1 >"$cgroup/cgroup.kill"
	wait_for 5 cgroup_is_empty
	find "$cgroup" -depth -type d -exec rmdir {} +
}
cleanup_fn remove_cgroup

# The group of a service; its top is known once swansongd runs.
group() { echo "$cgroup"/swansong-*/"node:${1//\//:}"; } # NODE
members() { cat "$(group "$1")/cgroup.procs"; } # NODE
has_members() { [ "$(members "$1" | wc -l)" = "$2" ]; } # NODE COUNT
groups_left() { find "$cgroup" -mindepth 1 -type d; }

make_escape
