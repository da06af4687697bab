#!/bin/bash
# A shutdown that is begun, held, prolonged and released on the page, to its last picture, which fits a window and a phone.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"
. "${0%/*}/page-lib.sh"

config <<END
[swansong]
shutdown-timeout = 60s
[db]
command = $helpers/idle
[web]
command = $helpers/idle
requires = db
[worker]
command = $helpers/idle
requires = db
END
echo correct-horse-battery >"$dir/token"
chmod 600 "$dir/token"
start_daemon
ctl wait --for ready
start_exporter --actions --token-file "$dir/token"
mkfifo "$dir/work"
# shellcheck disable=SC2016  # for the inner shell
ctl guard worker -- sh -c 'echo >>"$0/held"; read -r _ <"$0/work"' "$dir" >/dev/null 2>&1 &
wait_for 10 test -s "$dir/held" || die "the guard is held"
open_browser
button() { echo "document.querySelector('#$1 button[value=$2]')"; } # VIEW ACTION: an expression
announces() { echo "document.querySelector('#$1 [role=status]').textContent === '$2'"; } # VIEW TEXT
act() { page eval "$(button "$1" "$2").focus()" && page keys ENTER; } # VIEW ACTION
limit() { ctl guards --json | jq '[.guards[].kill_usec // 0] | max'; }
is_held() { [ "$(ctl status --json | jq '.nodes[0] | has("held_usec")')" = true ]; }

page open /node/web
page_becomes "a service has actions" "$(button node stop)"
page_is "but no shutdown of the tree" "$(button node shutdown).checkVisibility()" false
page open /node/
page_becomes "the root has one" "$(button node shutdown)?.checkVisibility()"
act node shutdown
page_becomes "which asks first" "document.querySelector('dialog h2').textContent === 'Shut down root?'"
page keys correct-horse-battery ENTER
page_becomes "and begins" "location.pathname === '/shutdown'"
page_becomes "the sentence names the guard" "/waiting for .* on worker/.test(document.querySelector('#shutdown-title').textContent)"
page_becomes "a shutdown has actions" "$(button shutdown hold).checkVisibility()"
page contrast
is "in readable colours" "$reply" ""
act shutdown hold
page_becomes "the token is asked for once" "document.querySelector('dialog h2').textContent === 'Hold root?'"
page keys ENTER
page_becomes "a hold is announced" "$(announces shutdown 'hold root: begun')"
ok "and it is one" is_held
page shot "$pictures/shutdown-actions.png"
act shutdown release
page keys ENTER
page_becomes "so is its end" "$(announces shutdown 'release root: begun')"
ok "and it is over" not is_held
before=$(limit)
act shutdown extend
page keys ENTER
page_becomes "and more time" "$(announces shutdown '5 minutes more root: begun')"
ok "which it has" test "$(limit)" -gt "$((before + 200000000))"
for size in '1280 720' '360 780'; do
	# shellcheck disable=SC2086
	page size $size
	page_is "its picture fits ${size% *}" "document.documentElement.scrollWidth <= ${size% *}" true
done
echo >"$dir/work"
page_becomes "the end is shown" "/^Shut down root: 3 services in/.test(document.querySelector('#shutdown-title').textContent)"
page_is "without actions" "$(button shutdown hold).checkVisibility()" false
page_is "the last picture fits a phone" "document.documentElement.scrollWidth <= 360" true
page shot "$pictures/shutdown-end-phone.png"
page size 1280 720
page_is "and a window" "document.documentElement.scrollWidth <= 1280 && document.documentElement.scrollHeight <= 720" true
page shot "$pictures/shutdown-end.png"
page console
is "the console has no error" "$(grep -v 'Failed to load resource\|ERR_' <<<"$reply")" ""
await_daemon 20
finish
