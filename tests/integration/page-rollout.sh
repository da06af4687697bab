#!/bin/bash
# The page of the exporter shows a rollout as it goes on, pauses and goes back, and a reload that must be confirmed.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"
. "${0%/*}/page-lib.sh"

tree() { # VERSION
	cat <<-END
	[web@]
	instances = 3
	command = bash -c 'test ! -e $dir/bad-$1-%i || exit 3; exec $helpers/idle'
	restart-delay = 10s
	END
}
sentence="document.getElementById('summary').textContent"
shown="document.getElementById('rollout').childElementCount"
marks() { echo "[...document.querySelectorAll('#rollout li svg')].map((e) => e.getAttribute('class').split(' ')[1]).join(' ')"; }

tree one | config
start_daemon
ctl wait --for ready --timeout 20s
start_exporter
open_browser
page open / || die "the page opens: $reply"
page_is "without a rollout none is shown" "$shown" 0

tree two | config
ctl rollout web@ --pause-after 1 --settle 50ms >"$dir/out" 2>&1
page_becomes "a rollout that is paused is shown" "$shown === 3 && /up. Rollout paused\\./.test($sentence)"
page_is "with a mark for each service" "$(marks)" '"up down down"'
page shot "$pictures/rollout.png"
like "the sentence without JavaScript has it" "$(get /)" 'rollout paused'
is "and the JSON" "$(got /api/tree .rollout.state)" paused
ctl rollout --continue >"$dir/out"
page_becomes "when it is done it is not" "$shown === 0"

touch "$dir/bad-three-2"
tree three | config
ctl rollout web@ --or-undo --settle 1s >"$dir/out" 2>&1
page_becomes "one that has gone back is shown with its reason" "/up. Rollout undone: web@2: exited with status 3/.test($sentence)"
page_becomes "the last changes have its states" "/rollout undoing → undone/.test(document.body.textContent)"

tree four | config
ctl reload --confirm 60s >"$dir/out"
page_becomes "a reload that must be confirmed is shown" "/up. Reload unconfirmed\\./.test($sentence)"
ctl confirm >"$dir/out"
page_becomes "and is not shown when it is confirmed" "!/unconfirmed/.test($sentence)"
stop_daemon
is "all ends well" "$status" 0
finish
