#!/bin/bash
# The units of convert-systemd.sh under the real systemd: the same processes, arguments, environment, signals and
# order of the stop.  So the output that is expected there is not an opinion.
# shellcheck disable=SC2034,SC2153  # for what is sourced, and from it
world=systemd
. "${0%/*}/lib.sh"
. "${0%/*}/convert-lib.sh"
requires_package python3 python3

make_units
cp -R "$WORLD/units/." /run/systemd/system/
units="store.service worker@01.service worker@two.service lines.service front.service long.service user.service one.service"
printf '[Unit]\nConflicts=%s\nAfter=%s\n' "$units" "$units" >/run/systemd/system/stop.target
systemctl daemon-reload
systemctl start --no-block run.target
ok "systemd: all have started" wait_for 60 units_started
ok "systemd: a connection starts one of them" connect
ok "systemd: the one that crashes is given up" wait_for 60 systemctl is-failed -q crash.service
systemctl stop tick.timer one.socket
# In one transaction, as a shutdown is.
systemctl start stop.target
compare_units systemd
finish
