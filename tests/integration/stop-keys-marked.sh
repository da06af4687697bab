#!/bin/bash
# The same where there are no control groups: processes are known by session, group and environment.
# shellcheck disable=SC2034  # for what is sourced
without_cgroups=yes
. "${0%/*}/stop-keys.sh"
