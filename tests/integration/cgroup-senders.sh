#!/bin/bash
# With control groups, what the dead and who executes have said is heard as that of their service.
. "${0%/*}/lib.sh"
. "${0%/*}/cgroup-lib.sh"
# shellcheck disable=SC2034  # for what is sourced
own=heard
. "${0%/*}/senders-lib.sh"
is "no group is left" "$(groups_left)" ""
finish
