#!/bin/bash
# With control groups, a message of a process that has died or calls execve(2) counts as its service's.
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"
# shellcheck disable=SC2034  # for what is sourced
own=heard
. "${0%/*}/senders-lib.sh"
is "no group is left" "$(groups_left)" ""
finish
