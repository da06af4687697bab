#!/bin/sh
# The unit tells the daemon the time that systemd tells it only by its end.
set -eu
unit=${top_srcdir:?}/contrib/systemd/swansongd.service.in
limit=$(sed -n 's/^TimeoutStopSec=//p' "$unit")
told=$(sed -n 's/^Environment=SWANSONG_GRACE=//p' "$unit")
echo 1..1
if [ -n "$limit" ] && [ "$limit" = "$told" ]; then
	echo "ok 1 - SWANSONG_GRACE is TimeoutStopSec="
else
	echo "# TimeoutStopSec=$limit, SWANSONG_GRACE=$told"
	echo "not ok 1 - SWANSONG_GRACE is TimeoutStopSec="
fi
