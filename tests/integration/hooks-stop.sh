#!/bin/bash
# A stop, a stop by force, a restart and the end of the daemon in every state of a service: a command that
# hangs keeps it in that state, or a node that it waits for.
. "${0%/*}/lib.sh"

trace=$dir/trace
: >"$trace"
# Writes down its name; with a FIFO block-NAME it stays until that is written to.
cat >"$dir/hook" <<-'END'
	#!/bin/sh
	dir=${0%/*}
	echo "$1" >>"$dir/trace"
	[ ! -p "$dir/block-$1" ] || read -r _ <"$dir/block-$1"
END
# Ignores SIGTERM, as do the processes that it leaves behind.
cat >"$dir/litter" <<-'END'
	#!/bin/sh
	trap '' TERM
	sleep 1000 &
	echo $! >"${0%/*}/litter-pid"
	exit 1
END
chmod +x "$dir/hook" "$dir/litter"

config <<END
[swansong]
stop-timeout = 30s
[all]
command = $helpers/signal-log $dir/signals
start-command = $dir/hook prepare
post-start = $dir/hook post-start
stop-command = $dir/hook ask
stop-command = sh -c 'kill -TERM \$MAINPID'
post-stop = $dir/hook post-stop
restart-delay = 0
autostart = no
[slow]
command = $helpers/signal-log $dir/signals
ready = fd:3
post-stop = $dir/hook post-stop
autostart = no
[drain]
command = $helpers/signal-log $dir/signals
drain-delay = 1h
post-stop = $dir/hook post-stop
autostart = no
[base]
command = $helpers/signal-log $dir/signals
post-stop = $dir/hook post-stop
autostart = no
[top]
command = $helpers/signal-log $dir/signals
requires = base
stop-command = $dir/hook top-ask
stop-command = sh -c 'kill -TERM \$MAINPID'
autostart = no
[deaf]
command = $helpers/stubborn $dir/deaf
post-stop = $dir/hook post-stop
autostart = no
[litter]
command = $dir/litter
post-stop = $dir/hook post-stop
restart-delay = 0
autostart = no
[again]
command = sh -c 'exit 1'
post-stop = $dir/hook post-stop
restart-delay = 1h
restart-delay-max = 1h
autostart = no
[once]
command = true
type = oneshot
autostart = no
[undone]
command = true
type = oneshot
post-stop = $dir/hook post-stop
autostart = no
[given-up]
command = sh -c 'exit 1'
post-stop = $dir/hook post-stop
restart = never
autostart = no
END

start() { ctl start "$1" --no-wait >/dev/null; } # NODE
block() { mkfifo "$dir/block-$1"; }             # NAME
unblock() { rm -f "$dir"/block-*; }

declare -A of=(
	[preparing]=all [readying]=all [up]=all [asking]=all [closing]=all [finishing]=all
	[starting]=slow [draining]=drain [waiting]=base [stopping]=deaf [cleaning]=litter
	[backoff]=again [done]=once [failed]=given-up [worked]=undone
)

into() { # STATE
	local node=${of[$1]} state=$1
	: >"$trace"
	case $1 in
	preparing) block prepare ;;
	readying) block post-start ;;
	asking) block ask ;;
	closing | finishing) block post-stop ;;
	waiting) block top-ask ;;
	stopping) rm -f "$dir/deaf" ;;
	worked) state=up ;;
	esac
	if [ "$1" = waiting ]; then
		ctl start top --timeout 10s
	elif [[ $1 = @(asking|closing|finishing|draining|stopping) ]]; then
		ctl start "$node" --timeout 10s
	else
		start "$node"
	fi
	[ "$1" != stopping ] || wait_for 5 test -s "$dir/deaf"
	[ "$1" != finishing ] || kill -KILL "$(pid_of "$node")"
	[[ $1 != @(asking|closing|draining|waiting|stopping) ]] || ctl stop "$node" --no-wait
	wait_for 5 has_state "$node" "$state"
}

# Releases the process that holds up a stop on purpose, and that the stop itself does not end.
out_of() { # STATE
	case $1 in
	asking) echo >"$dir/block-ask" ;;
	closing | finishing) echo >"$dir/block-post-stop" ;;
	waiting) echo >"$dir/block-top-ask" ;;
	draining) kill -TERM "$(pid_of drain)" ;;
	stopping) kill -KILL "$(pid_of deaf)" ;;
	cleaning) kill -KILL "$(cat "$dir/litter-pid")" 2>/dev/null ;;
	esac
}

start_daemon
for state in "${!of[@]}"; do
	node=${of[$state]}
	posts=1
	[[ "$state" != @(done) ]] || posts=0

	ok "$state: it is there" into "$state"
	ctl stop "$node" --no-wait >/dev/null
	like "$state, stop: the stop is latched at once" "$(field "$node" .state)" 'shutting_down|complete'
	out_of "$state"
	ok "$state, stop: it goes down" ctl wait "$node" --for complete --timeout 60s
	is "$state, stop: and is" "$(state "$node")" down
	is "$state, stop: not by force" "$(field "$node" .forced)" false
	is "$state, stop: the post-stop ran once" "$(grep -c post-stop "$trace")" "$posts"
	unblock

	ok "$state: it is there again" into "$state"
	ok "$state, force: it goes down" ctl shutdown "$node" --force --timeout 60s
	is "$state, force: and is" "$(state "$node")" down
	[ "$state" != waiting ] || out_of waiting
	unblock
	ctl stop top >/dev/null

	ok "$state: and again" into "$state"
	generation=$(field "$node" .generation)
	ctl restart "$node" --no-wait >/dev/null
	out_of "$state"
	unblock
	renewed() { [ "$(field "$node" .generation)" != "$generation" ] && not has_state "$node" down; }
	ok "$state, restart: it comes back" wait_for 10 renewed
	[ "$state" != cleaning ] || wait_for 5 has_state "$node" cleaning
	[ "$state" != cleaning ] || out_of cleaning
	ctl stop "$node" --no-wait >/dev/null
	[[ "$state" != @(draining|stopping|cleaning) ]] || out_of "$state"
	ok "$state, restart: and goes down" ctl shutdown "$node" --force --timeout 60s
done
stop_daemon

for state in "${!of[@]}"; do
	start_daemon
	ok "$state: it is there" into "$state"
	kill -TERM "$daemon"
	# The daemon replies no more from here on: the pids of its services are read before.
	case $state in
	draining | stopping) kill -KILL "$(services)" ;;
	*) out_of "$state" ;;
	esac
	await_daemon 20
	is "$state, exit: the daemon ends" "$status" 0
	ok "$state, exit: nothing is left" wait_for 10 nobody_else
	unblock
done
finish
