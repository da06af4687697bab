#!/bin/bash
# The first lines of a run go to the file of its own configuration, in its form and with its generation: a
# process may write before the logger knows of a change.
. "${0%/*}/lib.sh"

tree() { # FILE STAMP FORMAT
	config <<-END
	[web]
	command = sh -c 'echo first; exec $helpers/idle'
	log = file:$dir/$1
	log-timestamp = $2
	log-format = $3
	END
}

# --- Another file, and another form, with each run ---

tree run-0 none plain
start_daemon
for n in {1..12}; do
	wait_for 10 test -s "$dir/run-$((n - 1))" || break
	ctl stop web >/dev/null || break
	if [ $((n % 2)) = 0 ]; then tree "run-$n" none plain; else tree "run-$n" unix prefix; fi
	ctl reload >/dev/null || break
	ctl start web >/dev/null || break
done
ok "the service runs thirteen times" wait_for 10 test -s "$dir/run-12"
is "each run writes to its own file" "$(wc -l "$dir"/run-* | grep -cv ' 1 ')" 1
is "in the form of its own configuration" \
	"$(for n in {0..12}; do sed 's/[0-9]\+[.][0-9]\+/T/' "$dir/run-$n"; done)" \
	"$(for _ in {1..6}; do printf 'first\nT web | first\n'; done; echo first)"

# --- The generation ---

tree json none json
ctl reload --no-wait >/dev/null
wait_for 10 test -s "$dir/json" || die "lines are objects now"
has_lines() { [ "$(wc -l <"$dir/json")" -ge "$1" ]; }
pid_of web >"$dir/pids"
for n in {2..12}; do
	ctl restart web >/dev/null || break
	wait_for 10 has_lines "$n" || break
	pid_of web >>"$dir/pids"
done
is "each first line has the generation of its own run" \
	"$(jq -s '[.[].generation] | . == unique and length == 12' "$dir/json")" true
is "and its process" "$(jq .pid "$dir/json")" "$(cat "$dir/pids")"
stop_daemon
is "the end is graceful" "$status" 0
finish
