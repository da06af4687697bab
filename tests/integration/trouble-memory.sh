#!/bin/bash
# From the moment at which all is up, no memory can be had: services are restarted, watched and stopped.
. "${0%/*}/lib.sh"
. "${0%/*}/preload-lib.sh"
[ -z "$lack" ] || skip_all "$lack"

starts() { grep -c "swansongd: $1: started, pid" "$log"; } # NODE
has_started() { [ "$(starts "$1")" -ge "$2" ]; }           # NODE TIMES
last_pid() { sed -nE "s/${said}$1: started, pid //p" "$log" | tail -n 1; }
failed_allocations() { wc -c <"$faults/nomem"; }
all_have_started() { # TIMES
	local i
	for ((i = 0; i < 40; i++)); do
		has_started "s$i" "$1" || return 1
	done
}

# The first event of all is the death of a service; nothing has connected before.
{
	service web 'restart-delay = 10ms'
	printf '%s\n' 'restart-limit = none' "post-stop = true"
} | config
launch env LD_PRELOAD="$dir/preload.so" PRELOAD_FAULTS="$faults" \
	"$swansongd" -v -c "$ini" --socket "$socket"
wait_for 10 says "$log" 'web: starting -> up' || die "a service is up"
: >"$faults/nomem"
for times in 2 3; do
	kill -KILL "$(last_pid web)"
	ok "a service that dies is started again" wait_for 5 has_started web $times
	wait_for 5 says "$log" 'web: starting -> up'
done
is "no memory was even asked for" "$(failed_allocations)" 0
stop_daemon
is "and stopped" "$status" 0
rm "$faults/nomem"

: >"$log"
{
	for ((i = 0; i < 40; i++)); do
		service "s$i" 'restart-delay = 10ms' 'restart-limit = none' 'notify = yes'
	done
	printf '%s\n' '[hung]' "command = $helpers/idle" 'notify = yes' 'watchdog = 200ms' 'restart-limit = none' \
		'restart-delay = 10ms'
} | config
launch env LD_PRELOAD="$dir/preload.so" PRELOAD_FAULTS="$faults" \
	"$swansongd" -v -c "$ini" --socket "$socket"
ready() { [ "$(grep -c ': starting -> up' "$log")" -ge 41 ]; }
wait_for 20 ready || die "all are up"
: >"$faults/nomem"
pids=()
for ((i = 0; i < 40; i++)); do
	pids+=("$(last_pid "s$i")")
done
kill -KILL "${pids[@]}"
ok "all that die at once are started again" wait_for 10 all_have_started 2
ok "a service that misses its watchdog, too" wait_for 10 has_started hung 3
is "no memory was even asked for" "$(failed_allocations)" 0
stop_daemon 20
is "and all are stopped" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
finish
