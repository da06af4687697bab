#!/bin/bash
# The page of the exporter, in a browser: each change of the tree is shown at once, with any names;
# and it can be read without a mouse, on a phone, and without JavaScript.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"

. "${0%/*}/page-lib.sh"
LATE=200 # milliseconds from an event until the page shows it, at most

seen() { page seen "$1" || reply=0; } # NAME: $reply is the time, in milliseconds
state_shown() { echo "document.querySelector('$(row "$1")').dataset.state"; } # NODE: an expression

# Since the last event of the node to that state.
late() { # NODE STATE SEEN
	local at
	at=$(got "/api/node/$1" "[.events[] | select(.to == \"$2\")][-1].time_usec")
	echo $(($3 - at / 1000))
}

# An event that comes once cannot be measured again, and on a busy machine the browser replies late to anything:
# $late_once is the limit, and the time of its reply to an expression that does nothing.
allow_reply() {
	local began
	began=$(now)
	page eval 0
	late_once=$((LATE + $(now) - began))
}

# --- The tree ---

make_ending() {
	cat >"$dir/ending" <<-'END'
		#!/bin/sh
		trap 'sleep "$1" & wait $!; exit 0' TERM
		mkfifo "$0.$$" 2>/dev/null
		while :; do read -r line <"$0.$$"; done
	END
	chmod 755 "$dir/ending"
}
make_ending
config <<END
[db]
command = $dir/ending 0.6
[cache]
command = $dir/ending 0.1
drain-delay = 400ms
[web]
requires = db cache
[web/api]
command = $dir/ending 0.8
[web/frontend]
command = $dir/ending 0.3
requires = web/api
[web/worker]
command = $helpers/stubborn
stop-timeout = 1500ms
[jobs]
requires = db
[jobs/mailer]
command = sh -c 'exit 3'
restart-delay = 500ms
restart-limit = 1000/10s
autostart = no
[jobs/report]
command = true '<img src=x onerror=window.stolen=1>' </script><script>window.stolen=1</script>
type = oneshot
[jobs/backup]
command = $helpers/idle
autostart = no
END
start_daemon
ctl wait --for running
start_exporter
open_browser
page open / || die "the page opens: $reply"

page_is "the tree has a row for each node" "document.querySelectorAll('[role=treeitem]').length" 11
page_is "and no table any more" "document.getElementById('table')" null
page_is "a state is a word" "$(state_shown web/api)" '"up"'
page_is "and a shape" "document.querySelector('$(row web/api) svg').getAttribute('class')" '"shape up"'
page_becomes "the sentence counts the services" "/of 8 services up/.test(document.getElementById('summary').textContent)"
page shot "$pictures/tree.png"

delays=()
for i in 1 2 3; do
	page watch "up$i" "$(row jobs/backup)" data-state '^up$'
	ctl start jobs/backup
	seen "up$i"
	delays+=("$(late jobs/backup up "$reply")")
	ctl stop jobs/backup
	page until "$(state_shown jobs/backup) === 'down'"
done
within "a start is shown at once (${delays[*]} ms)" "$(best_of "${delays[@]}")" -50 "$LATE"

delays=()
for i in 1 2 3; do
	page watch "held$i" "$(row db) .notes" '⚑ 1'
	"$swansongctl" guard db --why "nightly <b>backup</b>" -- \
		sh -c "date +%s%3N >$dir/held.new; mv $dir/held.new $dir/held; exec sleep 1000" &
	holder=$!
	wait_for 5 test -e "$dir/held"
	seen "held$i"
	delays+=("$((reply - $(cat "$dir/held")))")
	[ "$i" = 3 ] || end_process "$holder"
	rm "$dir/held"
	[ "$i" = 3 ] || page until "document.querySelector('$(row db) .notes').textContent === ''"
done
cleanup_fn end_process "$holder"
# The program that notes the time begins after its guard was taken.
within "a guard is shown at once (${delays[*]} ms)" "$(best_of "${delays[@]}")" -1000 "$LATE"

page watch again "$(row jobs/mailer)" data-state '^backoff$'
page watch trouble "#summary" 'jobs/mailer restarts again and again'
ctl start --no-wait jobs/mailer
seen again
again=$reply
allow_reply
within "a crash loop is shown at once" "$((again - $(got /api/node/jobs/mailer \
	'[.events[] | select(.to == "backoff")][0].time_usec / 1000 | floor')))" -50 "$late_once"
ok "and summed up in the sentence on top" page seen trouble
page shot "$pictures/trouble.png"

# --- Without a mouse ---

page keys / back ENTER
page_becomes "a search finds a node, and Enter opens it" "location.pathname === '/node/jobs/backup'"
page keys ESCAPE
page open /
page eval "document.querySelector('$(row "")').focus()"
page keys ARROW_DOWN ARROW_DOWN ARROW_DOWN ARROW_LEFT
page_is "a group is folded by a key" "document.querySelector('$(row web/api)').hidden" true
page keys ARROW_RIGHT ARROW_RIGHT ENTER
page_becomes "arrows go through the tree, and Enter opens a node" "location.pathname === '/node/web/api'"
page_is "the page of the node has its sentence" "document.querySelector('#node .sentence').textContent" '"web/api is up."'
page_is "only the sentence on top is announced" \
	"[...document.querySelectorAll('[aria-live=polite]')].map((e) => e.id).join()" '"summary"'

page open /node/db
# shellcheck disable=SC1111
page_becomes "a node has its guards, with their text as it is" \
	"document.querySelector('#node .guards').textContent.includes('“nightly <b>backup</b>”')"
page shot "$pictures/node.png"
page scheme dark
page shot "$pictures/dark.png"
page scheme light
page size 390 800
page_is "nothing is wider than a phone" "document.documentElement.scrollWidth <= 390" true
page shot "$pictures/phone.png"
page open /node/jobs/report
page_becomes "a command is text" "document.querySelector('#node code').textContent.includes('<img src=x')"
page_is "and nothing else" "window.stolen === undefined && !document.querySelector('img')" true

# --- A shutdown ---

page size 1280 720
ctl stop jobs/mailer
page open /node/jobs
page watch stopping "body" data-view '^shutdown$'
page watch frontend ".lane[data-path=\"web/frontend\"]" data-state '^down$'
page watch holding "#shutdown-title" 'waiting for .* on web/worker'
ctl shutdown --no-wait
seen stopping
stopping=$reply
allow_reply
within "a shutdown takes the page at once" "$(late "" shutting_down "$stopping")" -50 "$late_once"
seen frontend
frontend=$reply
allow_reply
within "and shows each service as it ends" "$(late web/frontend down "$frontend")" -50 "$late_once"
ok "the sentence names what holds it up, not the store that waits with its guard" page seen holding
page_becomes "the guard that holds it up is named" \
	"document.getElementById('held-up').textContent.includes('nightly <b>backup</b>')"
page_becomes "and when it is revoked" "/revoked in/.test(document.getElementById('held-up').textContent)"
page_becomes "services that run have a plan" "document.querySelectorAll('.lane .plan').length === 5"
page_becomes "a service that is killed is seen" "document.querySelector('[data-path=\"web/worker\"] .bar.killing')"
page shot "$pictures/shutdown.png"
page open /shutdown
page_becomes "the picture is the same after a reload" \
	"document.querySelector('[data-path=\"web/api\"] .bar.stopping') && document.querySelector('.held')"
kill "$holder"
await_daemon 20
page_becomes "the end is shown" "/^Shut down root: 8 services in .* 1 killed/.test(document.querySelector('h2').textContent)"
page_becomes "and the service that was killed" \
	"/ killed$/.test(document.querySelector('[data-path=\"web/worker\"] .took').textContent)"
page_becomes "each lane ends" "!document.querySelector('.lane:not(.complete)')"
page shot "$pictures/end.png"
page eval "document.querySelector('#shutdown button').click()"
start_daemon
page_becomes "a new daemon is found" "document.getElementById('connection').textContent === 'live'"
page console
is "the console has no error" "$reply" ""

like "without JavaScript there is a table" "$(get /)" '<table id="table">'
size=$(get / | wc -c)
for file in "$top_srcdir"/src/exporter/page/*.js "$top_srcdir"/src/exporter/page/*.css; do
	get "/${file##*/}" >"$dir/file"
	size=$((size + $(wc -c <"$dir/file")))
	gzip -dc <"$dir/file" | cmp - "$file" || echo "$file"
done >"$dir/differ" 2>&1
within "the page is small ($size bytes)" "$size" 20000 $((32 * 1024))
is "its files arrive as they are" "$(cat "$dir/differ")" ""
is "compressed, or not at all" "$(status_of /app.js -H 'Accept-Encoding: br')" 406
stop_daemon
finish
