#!/bin/bash
# The output of a service on the page: its last lines, then each as it comes, whatever is in it and however
# many they are.
. "${0%/*}/lib.sh"
. "${0%/*}/exporter-lib.sh"
. "${0%/*}/page-lib.sh"

cat >"$dir/talk" <<'END'
#!/bin/sh
# Writes each line of the pipe.
printf '\033[1;31mred\033[0m <b>bold</b>\033]0;title\007\n'
printf 'to stderr\n' >&2
while :; do cat "$0.in"; done
END
cat >"$dir/flood" <<'END'
#!/bin/sh
# Ten thousand lines a second.
i=0
while :; do
	seq $((i * 1000)) $((i * 1000 + 999)) | sed 's/^/line /'
	i=$((i + 1))
	sleep 0.1
done
END
chmod 755 "$dir/talk" "$dir/flood"
mkfifo "$dir/talk.in"
config <<END
[talk]
command = $dir/talk
stdout = file:$dir/talk.out
stderr = file:$dir/talk.err
[flood]
command = $dir/flood
END
start_daemon
ctl wait -q --for running
start_exporter --logs
open_browser --trace
say() { printf '%b\n' "$@" >"$dir/talk.in"; } # LINE...
output='document.querySelector("[role=log]")'
lines="[...$output.children]"
is_at_end="$output.scrollHeight - $output.scrollTop - $output.clientHeight < 30"
shows_line() { echo "$lines.some((e) => e.textContent === '$1')"; } # TEXT: an expression
pause="document.querySelector('.output button')"

# --- Lines ---

page open /node/talk
page_becomes "a service has its last lines" "$(shows_line 'red <b>bold</b>')"
page_is "without colours and titles, as text" "$output.querySelector('b') === null" true
page_becomes "and those to stderr are marked" "$lines.some((e) => e.className === 'stderr' && e.textContent === 'to stderr')"
page watch next "[role=log]" 'the next one'
say 'the next one'
ok "a line is shown when it comes" page seen next
page_is "one time" "$lines.filter((e) => e.textContent === 'the next one').length" 1
for i in {1..60}; do echo "line $i"; done >"$dir/talk.in"
page_becomes "the end is followed" "$(shows_line 'line 60') && $is_at_end"
page eval "$output.focus()"
page keys HOME
page_becomes "until the reader goes up" "$output.scrollTop === 0"
say 'while reading'
page_becomes "then lines still come" "$(shows_line 'while reading')"
page_is "and the place stays" "$output.scrollTop" 0
page keys END
page until "$is_at_end"
say 'at the end'
page_becomes "at the end it goes on" "$(shows_line 'at the end') && $is_at_end"
page eval "$pause.focus()"
page keys ENTER
say 'in a pause'
page_becomes "in a pause lines are counted" "$pause.textContent === 'Continue (1 new line)'"
page_is "and not shown" "$(shows_line 'in a pause')" false
page keys ENTER
page_becomes "and shown afterwards" "$(shows_line 'in a pause') && $pause.textContent === 'Pause'"
page_is "a screen reader is not held up by them" "$output.getAttribute('aria-live')" '"off"'
for scheme in dark light; do
	page scheme $scheme
	page contrast
	is "the output is readable in $scheme colours" "$reply" ""
done
page shot "$pictures/output.png"
page size 360 780
page_is "it fits a phone" "document.documentElement.scrollWidth" 360
page size 1280 720

# --- A flood ---

tasks=()
for _ in 1 2 3; do
	page task
	page open /node/flood
	page_becomes "a flood is shown" "$lines.length > 100"
	page until "performance.now() > 3000"
	page task
	tasks+=("${reply:-1000}")
	if [ "$(best_of "${tasks[@]}")" -le 50 ]; then break; fi
done
within "in short tasks (${tasks[*]} ms)" "$(best_of "${tasks[@]}")" 0 50
page_is "its last lines" "$lines.length <= 500" true
page open /
page_is "without a node there is no output" "$output.checkVisibility()" false

# --- The exporter starts again ---

page open /node/talk
page until "$(shows_line 'in a pause')"
end_process "$exporter"
page_becomes "a lost exporter is seen" "document.getElementById('connection').textContent === 'connection lost'"
say 'meanwhile'
start_exporter --logs
page_becomes "a line that came meanwhile is shown" "$(shows_line meanwhile)"
say 'afterwards'
page_becomes "and those that come" "$(shows_line afterwards)"
end_process "$exporter"
start_exporter
page_becomes "without --logs one sentence gives the reason" \
	"/without --logs/.test(document.querySelector('.output').innerText) && !$output.checkVisibility()"
page console
is "the console has no error" "$reply" ""
stop_daemon
finish
