#!/bin/sh
# short.sh TARGET...: runs each target of the build folder on its seeds and on what follows from
# them, as many at once as there are processors, mostly in the time that others leave of these.
# FUZZ_SECONDS: for each; by default 20, or as many as let all of them end within 80.  The
# input of a crash is left in the build folder.
set -eu

processors=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
rounds=$((($# + processors - 1) / processors))
seconds=$((80 / rounds))
[ "$seconds" -le 20 ] || seconds=20
seconds=${FUZZ_SECONDS:-$seconds}

run() { # TARGET
	name=${1##*/fuzz-}
	seeds=${top_srcdir:?}/tests/fuzz/seeds/$name
	work=$(mktemp -d)
	trap 'rm -rf "$work" "$work".*' EXIT
	status=0
	# The words of the seeds, which libFuzzer would have to find by chance.
	grep -aohE '[A-Za-z][A-Za-z_.-]{2,30}' "$seeds"/* | sort -u | sed 's/.*/"&"/' >"$work.words"
	nice "./$1" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2000 -max_len=8192 \
		-close_fd_mask=2 -print_final_stats=1 -artifact_prefix="crash-$name-" -dict="$work.words" \
		"$work" "$seeds" >"$work.log" 2>&1 || status=$?
	executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work.log")
	if [ $status = 0 ]; then
		echo "$name: $executions executions in $seconds s"
	else
		echo "$name: failed after ${executions:-some} executions:"
		grep -Ev '^#[0-9]+[[:space:]]+(NEW|REDUCE|pulse|INITED|RELOAD)' "$work.log" | tail -n 100
	fi
	return $status
}

case ${FUZZ_ONE:-} in
'') printf '%s\n' "$@" | FUZZ_ONE=yes FUZZ_SECONDS=$seconds xargs -n 1 -P "$processors" "$0" ;;
*) run "$1" ;;
esac
