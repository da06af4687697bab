#!/bin/bash
# Many services end again and again, at times several at once, and leave a process behind: each is found, and
# is gone before the next run.
. "${0%/*}/lib.sh"
hide_cgroups

# Every second run leaves a process behind.  A run that meets the process of the run before writes its name.
cat >"$dir/run" <<END
name=\$1
if [ -e $dir/\$name.left ]; then
	! kill -0 \$(cat $dir/\$name.left) 2>/dev/null || echo \$name >>$dir/met
	rm $dir/\$name.left
else
	setsid sh -c "$helpers/idle & echo \\\$! >$dir/\$name.new; mv $dir/\$name.new $dir/\$name.left"
fi
echo >>$dir/\$name.runs
exec $helpers/idle
END
{
	for ((i = 0; i < 20; i++)); do
		echo "[s$i]
command = sh $dir/run s$i
restart = always
restart-delay = 0
restart-limit = none"
	done
} | config
start_daemon
ctl wait --for ready --timeout 60s >/dev/null || die "all are up"

n_runs() { wc -l <"$dir/s$1.runs"; }
ran() { [ "$(n_runs "$1")" -gt "$2" ]; }
all_have_run() { [ "$(cat "$dir"/s*.runs | wc -l)" = 20 ]; }
wait_for 20 all_have_run || die "all have begun"
came_back=0
for ((round = 0; round < 60; round++)); do
	some=()
	for ((i = 0; i <= round % 3; i++)); do
		some+=($(((round * 7 + i * 5) % 20)))
	done
	before=() pids=()
	for i in "${some[@]}"; do
		before+=("$(n_runs "$i")")
		pids+=("$(pid_of "s$i")")
	done
	kill -KILL "${pids[@]}"
	for ((i = 0; i < ${#some[@]}; i++)); do
		wait_for 10 ran "${some[i]}" "${before[i]}" || die "s${some[i]} is started again"
		came_back=$((came_back + 1))
	done
done
is "each came back" "$came_back" 120
ok "no run has met a process of the run before" test ! -e "$dir/met"
n_left=$(cat "$dir"/s*.left | wc -l)
ok "some runs have left a process" test "$n_left" -gt 5
stop_daemon 20
is "the end is graceful" "$status" 0
ok "nothing is left" wait_for 10 nobody_else
finish
