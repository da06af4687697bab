#!/bin/bash
# A stop, a stop by force and the end of the daemon in every state of other kinds of services: a oneshot, one
# of ready = notify, the instances of a template.  hooks-stop.sh has plain services.
. "${0%/*}/lib.sh"

for name in words job undo; do mkfifo "$dir/$name"; done
exec 7<>"$dir/words" 8<>"$dir/job" 9<>"$dir/undo"
sed 's/^command = .*/&\nautostart = no/' <<END | config
[once]
command = sh -c 'echo >>$dir/began; read -r status <$dir/job; exit \$status'
type = oneshot
restart-delay = 1h
restart-delay-max = 1h
[kept]
command = sh -c 'echo >>$dir/began; read -r status <$dir/job; exit \$status'
type = oneshot
post-stop = sh -c 'echo >>$dir/after'
restart-delay = 1h
restart-delay-max = 1h
[asked]
command = true
type = oneshot
stop-command = sh -c 'echo >>$dir/began; read -r _ <$dir/undo'
post-stop = sh -c 'echo >>$dir/after'
[speaks]
command = $helpers/notifier $dir/words
ready = notify
post-stop = sh -c 'echo >>$dir/after'
[worker@]
instances = 3
command = $helpers/idle
post-stop = sh -c 'echo >>$dir/after'
[late@]
instances = 3
command = $helpers/idle
ready = fd:3
post-stop = sh -c 'echo >>$dir/after'
END

# NAME: NODES STATE POSTS: where they are, and how many post-stops follow from there
declare -A cases=(
	[once-starting]="once starting 0" [once-backoff]="once backoff 0" [once-done]="once done 0"
	[kept-starting]="kept starting 1" [kept-backoff]="kept backoff 0" [kept-up]="kept up 1"
	[asked-up]="asked up 1" [asked-asking]="asked asking 1"
	[speaks-starting]="speaks starting 1" [speaks-up]="speaks up 1"
	[speaks-ending]="speaks cleaning 1"
	[template-up]="worker@1,worker@2,worker@3 up 3"
	[template-starting]="late@1,late@2,late@3 starting 3"
)
begins() { wait_for 10 test -s "$dir/began"; }
in_state() { # STATE NODE...
	local state=$1 node
	shift
	for node; do wait_for 10 has_state "$node" "$state" || return 1; done
}

into() { # NAME
	: >"$dir/began"
	ctl start "${nodes[@]}" --no-wait >/dev/null || return 1
	case $1 in
	*-starting) ;;
	once-backoff | kept-backoff) begins && echo 1 >&8 ;;
	once-done | kept-up) begins && echo 0 >&8 ;;
	asked-asking) in_state up asked && ctl stop asked --no-wait && begins ;;
	speaks-up) echo READY=1 >&7 ;;
	speaks-ending) printf '%s\n' READY=1 STOPPING=1 >&7 ;;
	esac >/dev/null
	[[ $1 != @(once|kept)-starting ]] || begins
	in_state "$state" "${nodes[@]}"
	: >"$dir/after"
}
out_of() { # NAME
	[[ $1 != asked-* ]] || echo >&9
}
follows() { is "$1: as many post-stops ran as should" "$(wc -l <"$dir/after")" "$posts"; }

start_daemon
for name in "${!cases[@]}"; do
	read -r list state posts <<<"${cases[$name]}"
	IFS=, read -ra nodes <<<"$list"

	ok "$name: it is there" into "$name"
	ctl stop "${nodes[@]}" --no-wait >/dev/null
	out_of "$name"
	ok "$name, stop: it goes down" ctl stop "${nodes[@]}" --timeout 60s
	ok "$name, stop: and is" in_state down "${nodes[@]}"
	is "$name, stop: not by force" "$(field "${nodes[0]}" .forced)" false
	follows "$name, stop"

	ok "$name: it is there again" into "$name"
	ok "$name, force: it goes down" ctl shutdown "${nodes[@]}" --force --timeout 60s
	ok "$name, force: and is" in_state down "${nodes[@]}"
done
stop_daemon

for name in "${!cases[@]}"; do
	read -r list state posts <<<"${cases[$name]}"
	IFS=, read -ra nodes <<<"$list"
	start_daemon
	ok "$name: it is there" into "$name"
	kill -TERM "$daemon"
	out_of "$name"
	await_daemon 20
	is "$name, exit: the daemon ends" "$status" 0
	follows "$name, exit"
	ok "$name, exit: nothing is left" wait_for 10 nobody_else
done
finish
