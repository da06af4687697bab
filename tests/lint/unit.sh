#!/bin/sh
# The unit passes systemd's stop timeout to the daemon, which systemd itself does not.  A comment in the
# unit has the reason for each setting that only hardened.conf restricts, and with that drop-in the
# exposure is low, as that of the exporter is.
# shellcheck source=tests/lint/lib.sh
. "${0%/*}/lib.sh"
unit=$top_srcdir/contrib/systemd/swansongd.service.in
drop_in=$top_srcdir/contrib/systemd/hardened.conf

limit=$(sed -n 's/^TimeoutStopSec=//p' "$unit")
grace=$(sed -n 's/^Environment=SWANSONG_GRACE=//p' "$unit")
try "SWANSONG_GRACE is TimeoutStopSec=" test -n "$limit" -a "$limit" = "$grace"

sed -n 's/^\([A-Z][A-Za-z]*=\).*/\1/p' "$drop_in" | while read -r setting; do
	[ "$setting" = SystemCallErrorNumber= ] || grep -q "^# .*$setting" "$unit" || echo "$setting"
done >"$dir/unexplained"
try "the unit has the reason for each setting that only the drop-in restricts" is_empty "$dir/unexplained"

awk '/^[A-Z]/ && before !~ /^[#A-Z]/ { print } { before = $0 }' "$drop_in" >"$dir/bare"
try "each setting of the drop-in has a comment" is_empty "$dir/bare"

# UNIT SCORE: ten times the number shown.
is_exposed_below() { systemd-analyze security --offline=yes --no-pager --threshold="$2" "$dir/$1.service"; }
if [ "$(systemd-analyze --version 2>/dev/null | sed 's/[^0-9]*\([0-9]*\).*/\1/;q')" -ge 252 ] 2>/dev/null; then
	for name in swansongd swansong-exporter swansong-inhibit; do
		sed 's,@[a-z]*bindir@,/usr/bin,; s,@config@,/,; s,@[a-z]*@,,' \
			"$top_srcdir/contrib/systemd/$name.service.in" >"$dir/$name.service"
	done
	mkdir "$dir/swansongd.service.d"
	cp "$drop_in" "$dir/swansongd.service.d"
	try "with the drop-in the exposure is below 4" is_exposed_below swansongd 39
	try "that of the exporter is below 1.5" is_exposed_below swansong-exporter 14
	try "that of swansong-inhibit is below 2" is_exposed_below swansong-inhibit 19
else
	skip "with the drop-in the exposure is below 4" "machine: no systemd-analyze of systemd 252"
	skip "that of the exporter is below 1.5" "machine: no systemd-analyze of systemd 252"
	skip "that of swansong-inhibit is below 2" "machine: no systemd-analyze of systemd 252"
fi
finish
