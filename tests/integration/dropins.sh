#!/bin/bash
# Drop-ins beside a configuration file override its keys: for the check, the start and a reload.
. "${0%/*}/lib.sh"

swansongd_check() { "$swansongctl" check "$ini"; }

{ service web; echo 'umask = 022'; service other; } | config
mkdir "$dir/swansong.d"
printf '[web]\numask = 027\n' >"$dir/swansong.d/50-web.ini"
ok "the check takes them" swansongd_check
start_daemon
ctl wait --for ready >/dev/null
is "a key is overridden at the start" "$(grep Umask "/proc/$(pid_of web)/status")" $'Umask:\t0027'
other=$(pid_of other)
is "cat shows the section and the drop-in" "$(ctl cat web | grep -v command)" \
	"# $ini"$'\n[web]\numask = 022\n# '"$dir/swansong.d/50-web.ini"$'\n[web]\numask = 027'

printf '[web]\numask = 077\n[more]\ncommand = %s/idle\n' "$helpers" >"$dir/swansong.d/60-web.ini"
ok "a reload takes a later drop-in" ctl reload
ok "which adds a service" wait_for 5 has_state more up
ok "and restarts that with changed keys" ctl wait --timeout 60s --for ready web
is "with the value of the last drop-in" "$(grep Umask "/proc/$(pid_of web)/status")" $'Umask:\t0077'
is "and nothing else is touched" "$(pid_of other)" "$other"

printf '[web]\n\numsk = 077\n' >"$dir/swansong.d/70-web.ini"
swansongd_check >"$dir/check" 2>&1
is "a mistake fails the check" "$?" 78
like "and has the place of the drop-in" "$(cat "$dir/check")" "$dir/swansong.d/70-web.ini:3: .*umsk"
ctl reload >"$dir/reload" 2>&1
is "it fails the reload, too" "$?" 1
like "with the same place" "$(cat "$dir/reload")" "$dir/swansong.d/70-web.ini:3: .*umsk"

rm -r "$dir/swansong.d"
ok "without them the reload goes back to the file" ctl reload
ok "which has one service less" wait_for 5 has_state more ''
ok "and the first value" ctl wait --timeout 60s --for ready web
is "of the key" "$(grep Umask "/proc/$(pid_of web)/status")" $'Umask:\t0022'
finish
