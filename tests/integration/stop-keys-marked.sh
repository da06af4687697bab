#!/bin/bash
# The same where there are no control groups: processes are known by session, group and environment.
without_cgroups=yes
. "${0%/*}/stop-keys.sh"
