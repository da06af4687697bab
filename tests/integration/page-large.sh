#!/bin/bash
# The page of a tree with a thousand services: no task of it takes more than 50 ms of processor time, while it
# opens, and while it shows a shutdown.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"
. "${0%/*}/page-lib.sh"

FRAME=50 # milliseconds

for ((i = 0; i < 1000; i++)); do
	((i % 50)) || printf '[g%d]\n' $((i / 50))
	printf '[g%d/s%d]\ncommand = %s/stubborn\nstop-timeout = 3s\n' $((i / 50)) $((i % 50)) "$helpers"
done | config

# Sets the longest task of each part.  The guard keeps the tree, so that nothing is missed.
round() {
	start_daemon
	[ -n "$browser" ] || { start_exporter; open_browser --trace; browser=yes; }
	ctl wait -q --for running
	"$swansongctl" guard root -- sleep 1000 &
	local holder=$!
	ok "a thousand services are shown" page open /
	page_becomes "and are up" "document.querySelectorAll('.row').length === 1021 && \
		/^All is well: 1000 services up/.test(document.getElementById('summary').textContent)"
	page task
	opening+=("${reply:--1}")

	ctl shutdown --no-wait
	page_becomes "a shutdown is shown" "document.querySelectorAll('.lane:not(.guard)').length === 1021"
	page_becomes "and each end" "document.querySelectorAll('.lane.complete').length === 1020"
	page task
	shutdown+=("${reply:--1}")
	end_process "$holder"
	await_daemon 60
	page_becomes "and the last one" "/^Shut down root: 1000 services/.test(document.querySelector('h2').textContent)"
	page task
	end+=("${reply:--1}")
}
is_short() { [ "$(best_of "$@")" -le "$FRAME" ]; }

browser='' opening=() shutdown=() end=()
for _ in 1 2 3; do
	round
	if is_short "${opening[@]}" && is_short "${shutdown[@]}" && is_short "${end[@]}"; then break; fi
done
within "the page opens in short tasks (${opening[*]} ms)" "$(best_of "${opening[@]}")" 0 "$FRAME"
within "and draws a shutdown in such (${shutdown[*]} ms)" "$(best_of "${shutdown[@]}")" 0 "$FRAME"
within "and its end (${end[*]} ms)" "$(best_of "${end[@]}")" 0 "$FRAME"

page eval "document.querySelector('h1 a').click()"
page keys / g19
page_becomes "a search leaves the rows that it finds" \
	"[...document.querySelectorAll('.row')].filter((e) => e.checkVisibility()).length === 51"
page_is "and no gap" "[...document.querySelectorAll('#tree > :not([hidden])')].every((e) => e.querySelector('.row:not([hidden])'))" true
page keys ESCAPE END
page_is "the last row is reached by a key" "document.activeElement.dataset.path" '"g19/s49"'
page keys HOME ARROW_DOWN ARROW_LEFT
page_becomes "a group is folded" \
	"[...document.querySelectorAll('.row')].filter((e) => e.checkVisibility()).length === 971"
page console
is "the console has no error" "$reply" ""
finish
