#!/bin/bash
# Without a key the output of services is captured: each line behind the name of its node, or as JSON.
. "${0%/*}/lib.sh"
requires_package python3 python3

behind() { sed -n "s/^$2 | //p" "$1"; } # FILE NAME: the lines with this name, filled up to its width
mkfifo "$dir/lines"

# --- Names ---

cat >"$dir/fails.py" <<'END'
import sys


def inner():
    raise ValueError("of\nthree\nlines")


print("begins")
inner()
END
config <<END
[web/app]
command = sh -c 'echo out; echo err >&2; exec $helpers/idle'
start-command = echo before
[python]
command = python3 -u $dir/fails.py
restart = never
[half]
command = printf 'without an end'
type = oneshot
[json]
command = sh -c 'echo "a \\"word\\""; printf "caf\\303\\251 \\377 \\t.\\n" >&2; exec $helpers/idle'
log-format = json
[plain]
command = sh -c 'exec cat <>$dir/lines'
log-format = plain
[inherit]
command = sh -c 'readlink /proc/\$\$/fd/1 /proc/\$\$/fd/2; exec $helpers/idle'
log = inherit
[null]
command = echo lost
type = oneshot
log = null
END
start_daemon
ok "standard error is behind the name" wait_for 10 says "$log" '^web/app \| err$'
ok "standard output as well" wait_for 10 says "$log" '^web/app \| out$'
ok "and the output of a command before the service" wait_for 10 says "$log" '^web/app \| before$'
ok "a shorter name is filled up" wait_for 10 says "$log" '^half    \| without an end$'
wait_for 10 has_state python failed || die "the program fails"
is "each line of a traceback has the name" \
	"$(behind "$log" 'python ' | sed 's/^  File .*/file/; s/^ .*/code/' | grep -v code | tr '\n' '|')" \
	"begins|Traceback (most recent call last):|file|file|ValueError: of|three|lines|"
is "inherited output goes to the daemon's stream, without a name" "$(grep -Fxc "$(realpath "$log")" "$log")" 2
ok "discarded output is not there" not says "$log" 'lost'
json() { grep '^{' "$log" | jq -r "select(.node == \"json\") | $1"; }
has_both() { [ "$(json .stream | sort | tr '\n' ' ')" = "stderr stdout " ]; }
ok "an object names the stream" wait_for 10 has_both
is "its message is whole" "$(json 'select(.stream == "stdout") | .message')" 'a "word"'
is "also one that is not UTF-8" "$(json 'select(.stream == "stderr") | .message_base64' | base64 -d | od -An -c)" \
	"$(printf 'caf\303\251 \377 \t.' | od -An -c)"
is "and has a time, a process and a run" "$(json 'select((.time | test("^[0-9T:.-]+Z$")) and .pid and .generation == 1) | .node' | wc -l)" 2
is "each line that begins like an object is one" "$(grep '^{' "$log" | jq -r .node | sort -u)" json

echo one >"$dir/lines"
ok "a plain line is as it is" wait_for 10 says "$log" '^one$'
sed -i 's/^log-format = plain$/log-format = prefix/' "$ini"
plain=$(pid_of plain)
ctl reload >/dev/null
is_prefixed() { echo two >"$dir/lines" && says "$log" '^plain   \| two$'; }
ok "another format counts at once" wait_for 10 is_prefixed
is "without a restart" "$(pid_of plain)" "$plain"
printf '[a/longer/name]\ncommand = echo there\ntype = oneshot\n' >>"$ini"
ctl reload >/dev/null
ok "a longer name has its line" wait_for 10 says "$log" '^a/longer/name \| there$'
is_wider() { echo three >"$dir/lines" && says "$log" '^plain         \| three$'; }
ok "and the others are filled up to it" wait_for 10 is_wider
sed -i '/^\[a/,$d' "$ini"
ctl reload >/dev/null
is_narrower() { echo four >"$dir/lines" && says "$log" '^plain   \| four$'; }
ok "until it is removed" wait_for 10 is_narrower
stop_daemon
is "the end is graceful" "$status" 0

# --- Two outputs of the daemon ---

config <<END
[web]
command = sh -c 'echo out; echo err >&2; exec $helpers/idle'
END
"$swansongd" -v -c "$ini" --socket "$socket" >"$dir/out" 2>"$dir/err" </dev/null &
daemon=$!
cleanup_fn end_process "$daemon"
ok "standard error is the daemon's" wait_for 10 says "$dir/err" '^web | err$'
ok "standard output, too" wait_for 10 says "$dir/out" '^web | out$'
is "and it has nothing else" "$(cat "$dir/out")" "web | out"
stop_daemon

# --- One command ---

"$swansongd" -- sh -c 'readlink /proc/$$/fd/1; echo alone' >"$dir/out" 2>"$dir/err"
is "in front of one command nothing is captured" "$(cat "$dir/out")" "$dir/out
alone"

# --- Whole lines ---

cat >"$dir/writer" <<'END'
#!/usr/bin/env python3
"""NAME LENGTH...: lines of numbers, each with its length in letters of the name behind it."""
import sys

name, lengths = sys.argv[1], [int(n) for n in sys.argv[2:]]
for number in range(3000):
    length = lengths[number % len(lengths)]
    sys.stdout.write(f"{number} {length} {name * length}\n")
END
chmod +x "$dir/writer"
cat >"$dir/reader" <<'END'
#!/usr/bin/env python3
"""Are all lines whole, and each there?  The daemon's own are between them."""
import collections
import sys

numbers = collections.defaultdict(set)
own = 0
for line in open(sys.argv[1]):
    head, bar, rest = line.rstrip("\n").partition(" | ")
    if not bar:
        own += 1
        assert line.partition("Z ")[2].startswith("swansongd: ") and line.endswith("\n"), line[:200]
        continue
    name = head.strip()
    number, length, text = rest.split(" ")
    assert text == name * int(length), (name, number, length, len(text))
    numbers[name].add(int(number))
assert sorted(numbers) == ["a", "b", "c"], sorted(numbers)
assert all(len(n) == 3000 for n in numbers.values()), {k: len(v) for k, v in numbers.items()}
assert own > 0
END
config <<END
[a]
command = $dir/writer a 10 100
type = oneshot
[b]
command = $dir/writer b 3000 5 6000
type = oneshot
[c]
command = $dir/writer c 70 12000 7
type = oneshot
[restarted]
command = $helpers/idle
END
mkfifo "$dir/pipe"
cat "$dir/pipe" >"$dir/lines-of-all" &
reading=$!
"$swansongd" -v -c "$ini" --socket "$socket" >"$dir/pipe" 2>&1 </dev/null &
daemon=$!
cleanup_fn end_process "$daemon"
wait_for 10 ctl_answers || die "swansongd answers"
for _ in {1..20}; do ctl restart restarted >/dev/null; done
for node in a b c; do wait_for 30 has_state "$node" "done" || die "$node is done"; done
stop_daemon
wait_for 10 is_zombie_or_gone "$reading" || die "the pipe is read to its end"
ok "lines of all are whole in a pipe, and each is there" python3 "$dir/reader" "$dir/lines-of-all"

# --- The logger is killed ---

config <<END
[load]
command = sh -c 'n=0; while [ ! -e $dir/enough ]; do seq \$((n + 1)) \$((n + 2000)); n=\$((n + 2000)); done; echo \$n >$dir/last-number'
type = oneshot
END
: >"$log"
start_daemon
has_more() { [ "$(stat -c %s "$log")" -gt "$1" ]; } # BYTES
died=0
for _ in {1..20}; do
	before=$(stat -c %s "$log")
	pid=$(logger)
	kill -KILL "$pid" || break
	is_another() { local p; p=$(logger); [ -n "$p" ] && [ "$p" != "$pid" ]; }
	wait_for 10 is_another || break
	wait_for 10 has_more "$((before + 100))" || break
	died=$((died + 1))
done
touch "$dir/enough"
is "the logger is killed twenty times" "$died" 20
wait_for 60 has_state load "done" || die "the load is done"
behind "$log" load | sort -u >"$dir/got"
seq 1 "$(cat "$dir/last-number")" | sort >"$dir/want"
is "no line is lost" "$(comm -13 "$dir/got" "$dir/want" | head -n 3)" ""
# A kill may cut a write(2), and the daemon writes to the log as well, so it cannot be cut back.
ok "each kill cuts at most a single line" test "$(comm -23 "$dir/got" "$dir/want" | wc -l)" -le "$died"
stop_daemon

# --- Without descriptors, and without the logger ---

config <<END
[many@]
instances = 40
command = sh -c 'echo here; exec $helpers/idle'
END
: >"$log"
(ulimit -n 100; exec "$swansongd" -v -c "$ini" --socket "$socket") >>"$log" 2>&1 </dev/null &
daemon=$!
cleanup_fn end_process "$daemon"
wait_for 10 ctl_answers || die "swansongd answers with few descriptors"
said() { [ "$(grep -cE '^(many@[0-9]+ +\| )?here$' "$log")" = 40 ]; }
ok "with few descriptors all services start, and all lines arrive" wait_for 20 said
ok "the output of some is captured" says "$log" '^many@[0-9]+ +\| here$'
is "lines of the others have no name, which is logged once" "$(grep -c 'no descriptors for a pipe' "$log")" 1
stop_daemon

: >"$log"
SWANSONG_LOGGER=/nonexistent start_daemon
ok "without the logger output is the daemon's own" wait_for 10 said
ok "and has no names" says "$log" '^here$'
stop_daemon
ok "no process is left" wait_for 10 nobody_else
finish
