#!/bin/bash
# A guard holds up the completion, and nothing else.
. "${0%/*}/lib.sh"

config <<END
[web]
command = $helpers/idle
[other]
command = $helpers/idle
END

# A command under a guard that lasts until it is released.
declare -A fifo
hold() { # NAME NODE [OPTION...]
	local name=$1 fd
	shift
	mkfifo "$dir/$name"
	exec {fd}<>"$dir/$name"
	fifo[$name]=$fd
	"$swansongctl" guard "$@" -- sh -c "echo held >'$dir/$name.held'; read -r line <'$dir/$name'; exit 9" \
		>"$dir/$name.out" 2>&1 &
	holder=$!
	cleanup_fn end_process "$holder"
}
release() { echo >&"${fifo[$1]}"; } # NAME

start_daemon
ctl wait --for ready

hold first web --why "nightly backup"
first=$holder
ok "a guard is taken" wait_for 5 test -s "$dir/first.held"
like "guards names the holder and the reason" "$(ctl guards web)" 'nightly backup'
web=$(pid_of web)
ok "shutdown --no-wait returns at once" ctl shutdown web --no-wait
ok "the guard does not delay the signal" wait_for 5 gone "$web"
is "but the completion" "$(field web .state)" shutting_down
like "guards --blocking names it" "$(ctl guards --blocking)" 'nightly backup'
ctl guard web -- true 2>"$dir/refused"
is "a new guard on a stopped node is refused" "$?" 75
like "and gives the reason" "$(cat "$dir/refused")" web
hold late web --late
ok "a late one is taken when asked for" wait_for 5 test -s "$dir/late.held"

"$swansongctl" wait web --for complete &
waiter=$!
release first
wait "$first"
is "the exit status of guard is the command's" "$?" 9
is "a single guard keeps it from completion" "$(field web .state)" shutting_down
kill -KILL "$holder"
wait "$holder" 2>/dev/null
ok "a killed holder holds nothing" wait_for 5 gone "$waiter"
wait "$waiter"
is "and the waiter hears of the completion" "$?" 0
release late # its command outlives the killed holder
is "the rest runs on" "$(state other)" up

hold root other
wait_for 5 test -s "$dir/root.held" || die "a guard is taken"
ctl shutdown --no-wait
ok "a start is refused after the root's stop" not ctl start web
is "the daemon waits for the guard" "$(field other .state)" shutting_down
release root
await_daemon 10
is "and ends with 0 when it is released" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
finish
