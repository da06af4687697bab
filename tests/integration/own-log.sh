#!/bin/bash
# The daemon's own log: its levels and forms, and a file of its own, which is rotated and never held up.
. "${0%/*}/lib.sh"
requires_package python3 python3

logger() { ps -e -o pid=,ppid=,comm= | awk -v d="$daemon" '$2 == d && $3 == "swansong-logger" { print $1; exit }'; }
own=$dir/made/own.log
in_file() { says "$own" "$said$1"; } # REGEX

# --- Levels and forms ---

service web | config
refuses() { "$swansongd" "$@" -c "$ini" --socket none 2>&1; }
like "an invalid level is refused" "$(refuses --log-level loud)" "--log-level: invalid value 'loud': expected error, "
like "so is an invalid form" "$(refuses --log-format xml)" "--log-format: invalid value 'xml': expected auto, "
like "a file is named from the root on" "$(refuses --log-file own.log)" '--log-file: expected an absolute path'
like "a command has no such file" "$("$swansongd" --log-file "$own" -- true 2>&1)" 'goes with a configuration'

run() { # OPTION...: a run of the daemon; its messages are in $log
	: >"$log"
	start_daemon "$@"
	ctl wait --for ready --timeout 60s >/dev/null || die "all are up"
	stop_daemon
}
run
ok "each line has its time" says "$log" "${said}web: up -> waiting$"
is "to a thousandth" "$(grep -Evc "$said" "$log")" 0
run --log-format plain
ok "plain has none" says "$log" '^swansongd: web: up -> waiting$'
run --log-level info
ok "less important messages are not logged" not says "$log" ' -> '
ok "the rest is" says "$log" ': web: started, pid'
run --log-level error
is "errors alone, of which there are none" "$(cat "$log")" ""
run --log-format json
is "as JSON each line is an object" "$(jq -r 'type' "$log" | sort -u)" object
is "with the node" "$(jq -r 'select(.message == "up -> waiting") | .node + " " + .level' "$log")" "web debug"
like "and the time" "$(jq -r .time "$log" | head -n 1)" '^[0-9-]{10}T[0-9:]{8}\.[0-9]{6}Z$'

terminal() { TERM=dumb python3 "$top_srcdir/tests/helpers/terminal.py" "$@"; }
printf '%s\n' "expect (^|\n)swansongd: web: started" 'send \x03' 'end 0' >"$dir/steps"
ok "on a terminal there is no time" terminal "$swansongd" -c "$ini" -s none <"$dir/steps"
printf '%s\n' "expect Z swansongd: web: started" 'send \x03' 'end 0' >"$dir/steps"
ok "behind a pipe there is" terminal sh -c "trap : INT; '$swansongd' -c '$ini' -s none 2>&1 | cat; :" <"$dir/steps"
like "in front of a command there is none" "$("$swansongd" -v -s none -- true 2>&1)" '^swansongd: '

# --- A file ---

root() { # LINE...
	{
		printf '[swansong]\n'
		printf '%s\n' "$@"
		service web
		for ((i = 0; i < 30; i++)); do service "idle$i" 'autostart = no'; done
	} | config
}
tree() { kill -USR1 "$daemon"; } # a line for each node
# The service may have started before the log went on in the file.
continues() { tree; in_file 'web: '; }
root 'log-size = 4K' 'log-keep = 3'
: >"$log"
start_daemon --log-file "$own"
ok "the log continues in the file, and its directory is made" wait_for 10 continues
ok "standard error names the file" says "$log" "${said}the log continues in $own$"
has_rotated() { tree; [ "$(find "$dir/made" -name 'own.log.*' | wc -l)" = 3 ]; }
ok "it is rotated, by the limits of the root" wait_for 30 has_rotated
is "none is larger than its limit" "$(find "$dir/made" -size +4k)" ""
root 'log-size = 1M'
ctl reload >/dev/null 2>&1
has_grown() { tree; [ -n "$(find "$own" -size +4k)" ]; }
ok "a reload changes them" wait_for 30 has_grown
mv "$own" "$own.old"
kill -USR2 "$daemon"
is_anew() { tree; in_file 'web: running'; }
ok "SIGUSR2 opens it anew" wait_for 10 is_anew
pid=$(logger)
kill -KILL "$pid"
ok "the death of the logger is in it" wait_for 10 in_file 'logger: has died'
for _ in {1..20}; do
	ctl restart web >/dev/null || break
done
before=$(wc -l <"$log")
stop_daemon
is "the end is graceful" "$status" 0
ok "and in it to its last line" in_file 'root: complete in'
is "each restart is in it" "$(grep -Ec "${said}web: stopping -> down" "$own")" 21
is "all lines are whole" "$(grep -Evc "$said" "$own")" 0
is "standard error has nothing more" "$(wc -l <"$log")" "$before"

: >"$log"
rm -r "$dir/made"
SWANSONG_LOGGER=/nonexistent start_daemon --log-file "$own"
stop_daemon
ok "without a logger standard error has it all" says "$log" "${said}root: complete in"
ok "and there is no file" not test -e "$own"

# --- A disk ---

mkdir "$dir/made"
mount -t tmpfs -o size=256k tmpfs "$dir/made" || { skip "a full disk" "machine: refuses to mount"; finish; }
cleanup_fn umount "$dir/made"
: >"$log"
start_daemon --log-file "$own"
wait_for 10 continues || die "the log continues in the file"
head -c 300000 /dev/zero >"$dir/made/fill" 2>/dev/null
is_said() { tree; says "$log" "${said}root: log: cannot write $own: No space left"; }
ok "when the disk is full standard error has the log" wait_for 30 is_said
is_there() { tree; says "$log" "${said}web: running"; }
ok "and later lines" wait_for 10 is_there
ok "the daemon goes on" ctl status
rm "$dir/made/fill"
ok "with room the file has it again" wait_for 30 in_file "root: log: $own is written again"
stop_daemon
ok "to the end" in_file 'root: complete in'
ok "no process is left" wait_for 10 nobody_else
finish
