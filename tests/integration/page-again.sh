#!/bin/bash
# After a restart of the exporter, or of the daemon, an open page is right again: nodes, states, changes, and a
# shutdown that has begun meanwhile.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"
. "${0%/*}/page-lib.sh"

configure() { # NODE...
	for node; do printf '[%s]\ncommand = %s/idle\n' "$node" "$helpers"; done | config
}
is_live="document.getElementById('connection').textContent === 'live'"
paths="[...document.querySelectorAll('.row')].map((e) => e.dataset.path).join(' ')"
state_of() { echo "document.querySelector('$(row "$1")').dataset.state"; } # NODE: an expression
changes='[...document.querySelectorAll(".changes li")].map((e) => e.textContent)'
shows_nodes() { # NAME: those of the daemon, in their order
	page_becomes "$1" "$is_live && $paths === '$(ctl status --json | jq -r '[.nodes[].path] | join(" ")')'"
}

configure a b c/d c/e
start_daemon
ctl wait -q --for running
start_exporter
open_browser
page open /
page eval "window.opened = true"

end_process "$exporter"
page_becomes "a lost exporter is seen" "document.getElementById('connection').textContent === 'connection lost'"
ctl stop b >/dev/null
configure a b bb c/d c/e/f
ctl reload >/dev/null
start_exporter
shows_nodes "after its restart the page has the nodes of now"
page_is "and their states" "$(state_of b)" '"down"'
page_becomes "and the change that it has missed" "$changes.some((text) => /b.*→ down/.test(text))"
page eval "document.querySelector('$(row bb)').focus()"
page keys ENTER
page_becomes "a new node is opened" "document.querySelector('#node h2').textContent === 'bb'"

kill -9 "$daemon"
page_becomes "a lost daemon is seen" "document.getElementById('connection').textContent === 'daemon down'"
page_is "with its last state" "$(state_of a)" '"up"'
await_daemon 10
configure z a c/d
start_daemon
ctl wait -q --for running
shows_nodes "another daemon has its own nodes"
page_becomes "the node that was open is gone" "/no such node/.test(document.querySelector('.sentence').textContent)"
page eval "document.querySelector('h1 a').click()"
page_becomes "no change is shown twice" "$changes.length > 2 && new Set($changes).size === $changes.length"
ctl stop z >/dev/null
page_becomes "and changes of the new one are" "${changes}[0].includes('z')"

"$swansongctl" guard a --why nightly -- sleep 1000 &
holder=$!
cleanup_fn end_process "$holder"
page_becomes "so are its guards" "document.querySelector('$(row a) .notes').textContent === '⚑ 1'"
end_process "$exporter"
page until "document.getElementById('connection').textContent === 'connection lost'"
ctl shutdown --no-wait
wait_for 10 test "$(state c/d)" = down
start_exporter
page_becomes "a shutdown that has begun meanwhile is shown" "document.querySelector('.lane[data-path=\"c/d\"].complete')"
page_is "the guard holds it up" "/nightly/.test(document.getElementById('held-up').textContent)" true
end_process "$holder"
await_daemon 20
page_becomes "and its end" "/^Shut down root/.test(document.querySelector('h2').textContent)"
page_is "all in the page that was opened" "window.opened" true
page console
is "the console has no error" "$reply" ""
finish
