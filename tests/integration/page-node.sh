#!/bin/bash
# A node on the page: its dependencies, its settings, its last ends; and it is started, stopped and restarted
# there, without a mouse, with a token.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"
. "${0%/*}/page-lib.sh"

config <<END
[swansong]
report = $dir/report.json
[db]
command = $helpers/idle
[web]
requires = db
[web/api]
command = $helpers/idle
[web/worker]
command = $helpers/stubborn
stop-timeout = 300ms
[jobs]
requires = web/api
[jobs/mailer]
command = $helpers/idle
[reports]
command = $helpers/idle
wants = jobs/mailer
[nightly]
command = true
type = oneshot
schedule = *-*-* 02:30
END
start_daemon
ctl wait -q --for running
for _ in 1 2 3; do ctl restart db >/dev/null; done
ctl restart web/worker >/dev/null 2>&1
printf 'correct-horse-battery\n' >"$dir/token"
chmod 600 "$dir/token"
start_exporter --actions --token-file "$dir/token"
open_browser

# --- Its place ---

facts() { # a list: "Requires: db; ..."
	echo '[...document.querySelectorAll("#node dt")].map((e) => e.textContent + ": " + e.nextSibling.textContent).join("; ")'
}
page open /node/web
page_becomes "a node has the nodes that it requires" "$(facts).includes('Requires: db')"
page open /node/web/api
page_becomes "and those that require it" "$(facts).includes('Required by: jobs')"
page eval "[...document.querySelectorAll('#node dd a')].find((e) => e.textContent === 'jobs').focus()"
page keys ENTER
page_becomes "which are links" "location.pathname === '/node/jobs' && $(facts).includes('Requires: web/api')"
page open /node/jobs/mailer
page_becomes "other kinds have their names" "$(facts).includes('Wanted by: reports')"

page open /node/nightly
page_becomes "a scheduled job has its next run" "/Next run: .*2:30/.test($(facts))"

# --- Its settings ---

page open /node/web/worker
page_becomes "a node has its settings" "document.querySelectorAll('#node details tbody tr').length >= 2"
page_is "which are folded" "document.querySelector('#node details').open" false
page eval "document.querySelector('#node summary').focus()"
page keys ENTER
page_becomes "a key unfolds them, with their places" \
	"/stop-timeout300ms.*swansong\\.ini:$(grep -n '^stop-timeout' "$ini" | cut -d: -f1)/.test(document.querySelector('#node details').innerText.replace(/\\s/g, ''))"

# --- Its past ---

page open /node/db
page_becomes "a node has its last ends" "document.querySelectorAll('.ends li').length === 3"
page_is "with their lengths and reasons as text" \
	"/: [0-9.]+ s, asked$/.test(document.querySelector('.ends li').textContent)" true
page open /node/web/worker
page_becomes "an end by force has a mark" "document.querySelector('.ends .forced')"
page_is "and a text" "/, forced, /.test(document.querySelector('.ends .forced').textContent)" true
page_is "and is summed up" "/ [0-9] forced ✕\\.$/.test(document.querySelector('.ends + p').textContent)" true
page open /node/reports
page_becomes "a node without an end has no strip" "document.querySelector('.ends').parentElement.hidden"

# --- Actions ---

button() { echo "document.querySelector('#node button[value=$1]')"; } # ACTION: an expression
dialog='document.querySelector("dialog")'
ask() { page eval "$(button "$1").focus()" && page keys ENTER; } # ACTION
page open /node/web/api
page_becomes "a node has actions" "$(button stop)"
ask stop
page_becomes "a key asks" "$dialog.open && $dialog.contains(document.activeElement)"
page_is "with the name of the node" "$dialog.querySelector('h2').textContent" '"Stop web/api?"'
page_becomes "and of those that stop as well" "/jobs stops as well/.test($dialog.textContent)"
page contrast
is "in readable colours" "$reply" ""
page shot "$pictures/action.png"
page keys ESCAPE
page_becomes "Escape leaves it" "!$dialog.open && document.activeElement === $(button stop)"
is "and nothing is stopped" "$(state web/api)" up
page console
is "the console has no error" "$reply" ""

ask stop
page keys not-the-token ENTER
page_becomes "a wrong token is refused" "$dialog.querySelector('[role=alert]').textContent === 'This is not the token.'"
page keys correct-horse-battery ENTER
page_becomes "the right one stops the node" "document.querySelector('$(row web/api)').dataset.state === 'down'"
page_is "which is announced" "document.querySelector('#node [role=status]').textContent" '"stop web/api: begun"'
is "dependents have stopped" "$(state jobs/mailer)" down
ask start
page keys ENTER
page_becomes "the token is asked for once" "document.querySelector('$(row web/api)').dataset.state === 'up'"
page_is "and is in no cookie, and no storage that lasts" "document.cookie === '' && localStorage.length === 0" true
page console
is "the console has the refusal only" "$(grep -o 'status of [0-9]*' <<<"$reply")" "status of 401"

# --- For all ---

for scheme in light dark; do
	page scheme $scheme
	for path in / /node/web/worker /shutdown; do
		page open $path
		page contrast
		is "$path is readable in $scheme colours" "$reply" ""
	done
	page open /node/web/worker
	page until "document.querySelector('.ends .forced')"
	page shot "$pictures/node-$scheme.png"
done
page scheme light
page size 360 780
page open /node/web/worker
page until "document.querySelector('.ends .forced')"
page_is "a node fits a phone" "document.documentElement.scrollWidth" 360
ask restart
page_becomes "and so do its questions" "$dialog.open && $dialog.getBoundingClientRect().right <= 360"
page shot "$pictures/action-phone.png"
page keys ESCAPE
page media print
page_is "on paper there are no buttons" \
	"[...document.querySelectorAll('button')].every((e) => !e.checkVisibility())" true
page shot "$pictures/print.png"

end_process "$exporter"
start_exporter
page media screen
page open /node/web/api
page until "document.querySelector('#node dd')"
page_is "without --actions there are none" "$(button stop).checkVisibility()" false
page console
is "the console has no error to the end" "$reply" ""
stop_daemon
finish
