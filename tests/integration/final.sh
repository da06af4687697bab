#!/bin/bash
# The final actions of nodes: their moment, order, environment, and the steps that wait for them.
. "${0%/*}/lib.sh"

trace=$dir/trace
: >"$trace"
cat >"$dir/final" <<-'END'
	#!/bin/sh
	dir=${0%/*}
	[ ! -p "$dir/block-$1" ] || read -r _ <"$dir/block-$1"
	echo "$1 $SWANSONG_RESULT [$SWANSONG_LATE] $GREETING" >>"$dir/trace"
	[ -z "$2" ] || exit "$2"
END
chmod +x "$dir/final"
shows() { # LINE...: the trace is these
	[ "$(cat "$trace")" = "$(printf '%s\n' "$@")" ] || { cat "$trace"; return 1; }
}

# Leaves two processes in sessions of their own; the parent of one of them ends first.
cat >"$dir/strew" <<-END
	#!/bin/bash
	(setsid sleep 1000 & echo \$! >$dir/\$1-early)
	setsid sleep 1000 &
	echo \$! >$dir/\$1-late
	until [[ \$(ps -o sid= -p \$!) -eq \$! ]]; do :; done
	kill -0 "\$(cat $dir/\$1-early)" && echo \$1 >>$dir/strewn
END
chmod +x "$dir/strew"

config <<END
[swansong]
environment = GREETING=hello
final = $dir/final root
[web]
final = $dir/final web-1
final = $dir/final web-2 1
final = /nonexistent
[web/nginx]
command = $helpers/idle
post-stop = sh -c 'echo nginx-post-stop >>$trace'
final = $dir/final nginx
[deaf]
final = $dir/final deaf
[deaf/one]
command = $helpers/stubborn $dir/one
stop-timeout = 200ms
[deaf/two]
command = $helpers/stubborn $dir/two
stop-timeout = 200ms
[deaf/three]
command = $helpers/idle
[hung]
final = $dir/final hung
final = $dir/final hung-first
final-timeout = 300ms
[hung/litter]
command = $helpers/idle
final = sh -c 'sleep 1000 & echo \$! >$dir/litter'
[strewn]
final = $dir/strew group
[strewn/service]
command = $helpers/idle
final = $dir/strew service
END
start_daemon
ok "all becomes ready" ctl wait --for ready --timeout 60s
is "an action is no guard before the stop" "$(field web .guards)" 1

mkfifo "$dir/block-nginx"
ctl stop web --no-wait >/dev/null
ok "a service's own action waits for its post-stop" wait_for 5 shows nginx-post-stop
ok "then it runs" wait_for 5 says "$log" 'web/nginx: final: started'
is "and holds its node" "$(field web/nginx .state)" shutting_down
is "and the node around it" "$(field web .state)" shutting_down
is "it is shown" "$(ctl guards web/nginx --json | jq -r '.guards[] | .kind + " " + .why')" "action final"
ok "nothing in there starts before it is over" not ctl start web --timeout 200ms
is "it is not started" "$(state web/nginx)" down
like "because it waits for that" "$(field web/nginx .service.waiting[0])" nginx
echo >"$dir/block-nginx"
rm "$dir/block-nginx"
ok "after that it is" ctl wait web --for ready --timeout 60s
ok "the action of the node around was not lost" shows nginx-post-stop 'nginx clean [] hello' \
	'web-2 clean [] hello' 'web-1 clean [] hello'
ok "they ran in the reverse order of the file, whether one failed or not" \
	in_order 'web: final cannot start: execute /nonexistent' 'web: final exited with status 1'

: >"$trace"
for name in one two; do
	wait_for 5 test -s "$dir/$name" || die "$name is there"
done
ok "a stop by force is reported" by_force ctl stop deaf --timeout 60s
ok "the final action learns of the nodes that were late" shows 'deaf forced [deaf/one deaf/two] hello'

: >"$trace"
mkfifo "$dir/block-hung"
ok "a stop ends although an action hangs" by_force ctl stop hung --timeout 60s
ok "the log names it" says "$log" 'hung: killing final, pid [0-9]+ \(final\)'
is "the node is marked as forced" "$(field hung .forced)" true
ok "a process that a final action leaves is killed" wait_for 5 gone "$(cat "$dir/litter")"
rm "$dir/block-hung"

ok "some actions leave others behind" ctl stop strewn --timeout 60s
is "which go on as long as the action runs" "$(paste -sd ' ' "$dir/strewn")" "service group"
for name in service group; do
	ok "$name: then they are killed, in sessions of their own as well" wait_for 10 gone \
		"$(cat "$dir/$name-early")" "$(cat "$dir/$name-late")"
done

: >"$trace"
stop_daemon
is "the exit status shows an earlier forced stop, which is not this one" "$status" 0
ok "the root's action is the last" shows nginx-post-stop 'nginx clean [] hello' \
	'web-2 clean [] hello' 'web-1 clean [] hello' 'root clean [] hello'
ok "nothing is left" wait_for 10 nobody_else

: >"$trace"
start_daemon
ctl wait --for ready --timeout 10s
for name in one two; do
	wait_for 5 test -s "$dir/$name" || die "$name is there"
done
kill -QUIT "$daemon"
await_daemon 20
is "the daemon is ended by force" "$status" 124
ok "and the actions ran all the same" says "$trace" '^root forced \[.*deaf/one.*\]'
finish
