#!/bin/bash
# The hooks of contrib/ups, with stand-ins for upsc and apcaccess.
. "${0%/*}/lib.sh"

mkdir "$dir/bin"
ln -s "$(realpath "$swansongctl")" "$dir/bin/swansongctl"
cat >"$dir/bin/upsc" <<-END
	#!/bin/sh
	[ "\$2" = battery.runtime ] || exit 1
	cat "$dir/runtime"
END
cat >"$dir/bin/apcaccess" <<-END
	#!/bin/sh
	printf 'APC      : 001,036,0870\nSTATUS   : ONBATT\nTIMELEFT : %s\nMBATTCHG : 5 Percent\n' "\$(cat "$dir/timeleft")"
END
chmod +x "$dir/bin/upsc" "$dir/bin/apcaccess"
PATH=$dir/bin:$PATH
nut() { SWANSONG_UPS_RESERVE=10 UPSNAME=rack@localhost "$top_srcdir/contrib/ups/swansong-nut" "$@"; }
apc() { SWANSONG_UPS_RESERVE=10 "$top_srcdir/contrib/ups/swansong-apcupsd" rack 1 1; }

start() {
	printf '[swansong]\nreport = %s/report\n[store]\ncommand = %s/stubborn %s/store\nstop-timeout = 4s\n[worker]\ncommand = %s/stubborn %s/worker\nstop-timeout = 30s\nstop-priority = -1\nrequires = store\n' \
		"$dir" "$helpers" "$dir" "$helpers" "$dir" >"$ini"
	rm -f "$dir/store" "$dir/worker"
	start_daemon
	wait_for 10 test -s "$dir/store" -a -s "$dir/worker" || die "the services are there"
	lines=$(wc -l <"$log")
}
logged() { tail -n +"$lines" "$log" | grep -Eq -- "$1"; }
ended() { wait_for 30 gone "$daemon"; }

start
echo 17 >"$dir/runtime"
NOTIFYTYPE=ONBATT nut
is "on battery nothing ends yet" "$(state store)" up
began=$(now)
NOTIFYTYPE=LOWBATT nut 'UPS rack@localhost battery is low'
within "the script waits until the tree has ended, within the time of the battery" $(($(now) - began)) 3000 17000
ok "which it has" ended
ok "the log names the UPS" logged 'rack@localhost: LOWBATT'
ok "and the time less the reserve" logged 'shutdown limited to (6|5\.[0-9]+)(\.0)?s from now'
is "the worker was killed early" "$(jq -r '.nodes[] | select(.path == "worker") | .early' "$dir/report")" true
is "the store was not" "$(jq -r '.nodes[] | select(.path == "store") | .early // false' "$dir/report")" false
NOTIFYTYPE=FSD nut 2>"$dir/errors"
is "a tree that has ended keeps no machine from its shutdown" $? 0

# In the middle of a shutdown the battery turns out to last less long.
start
ctl shutdown --no-wait >/dev/null
wait_for 5 has_state worker stopping || die "the worker is stopping"
echo 1500 >"$dir/runtime"
NOTIFYTYPE=LOWBATT nut &
cleanup_fn end_process $!
ok "a long time of the battery changes nothing" not wait_for 1 logged 'shutdown limited'
echo 15.7 >"$dir/runtime"
began=$(now)
nut onbatt-5min
within "a shorter one does" $(($(now) - began)) 500 15700
ok "the tree has ended" ended

start
echo 'Not supported' >"$dir/runtime"
SWANSONG_UPS_ASSUMED=16 NOTIFYTYPE=FSD nut
ok "without a time of the UPS one is assumed" logged 'shutdown limited to (5|4\.[0-9]+)(\.0)?s from now'
ok "the tree has ended" ended

start
echo '0.3 Minutes' >"$dir/timeleft"
began=$(now)
apc
within "apcupsd gives minutes" $(($(now) - began)) 3000 18000
ok "the tree has ended" ended
ok "the log has its time" logged 'shutdown limited to (7|6\.[0-9]+)(\.0)?s from now'

finish
