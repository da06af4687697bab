#!/bin/sh
# run.sh short | long TARGET...: runs each target of the build folder on its seeds and on mutations
# of them, as many at once as FUZZ_JOBS or as there are processors, mostly in the time that
# others leave of these.  Both leave the input of a crash in the build folder.
#
# short: each for FUZZ_SECONDS (10).
# long:  each for FUZZ_LONG_SECONDS (3600), or only those of FUZZ_TARGETS, such as "calendar http".  The
#        inputs that reach more code are kept in fuzz-corpus of the build folder, for the next time; the
#        smallest of them that do, at most FUZZ_SEEDS (30) of up to 2 KB, become seeds, and so does the
#        input of a crash, which ends the target's run.
set -eu

[ "${1:-}" = short ] || [ "${1:-}" = long ] || {
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
mode=$1
shift

seconds=${FUZZ_SECONDS:-10}
[ "$mode" = short ] || seconds=${FUZZ_LONG_SECONDS:-3600}

fuzz() { # TARGET ARGUMENT...
	program=./$1
	shift
	nice "$program" -timeout=60 -rss_limit_mb=2000 -max_len=8192 -close_fd_mask=2 "$@"
}

# Copies the inputs that reach code which no seed reaches to the seeds.  Prints their number.
merge_seeds() { # TARGET
	mkdir "$work.merged"
	cp "$seeds"/* "$work.merged"
	fuzz "$1" -merge=1 -use_counters=0 -max_len=2048 "$work.merged" "$corpus" >"$work.merge" 2>&1 || {
		tail -n 20 "$work.merge" >&2
		return 1
	}
	n=0
	# The smallest comes first.
	for new in $(find "$work.merged" -type f -printf '%s %f\n' | sort -n | cut -d' ' -f2); do
		[ ! -e "$seeds/$new" ] || continue
		[ $n -lt "${FUZZ_SEEDS:-30}" ] || break
		cp "$work.merged/$new" "$seeds/$new"
		n=$((n + 1))
	done
	echo $n
}

# Copies the inputs of crashes to the seeds.  Prints their number.
keep_crashes() {
	n=0
	for crash in "crash-$name"-*; do
		case $crash in
		*-slow-unit-*) continue ;;
		esac
		# Not those of former runs.
		[ -n "$(find "$crash" -newer "$work.words" 2>/dev/null)" ] || continue
		[ "$mode" = short ] || cp "$crash" "$seeds/${crash#"crash-$name-"}"
		n=$((n + 1))
	done
	echo $n
}

last_number() { # NAME: of the lines "#123 NEW cov: 45 ft: 67 ..."
	sed -n "s/^#.* $1: \([0-9]*\).*/\1/p" "$work.log" | tail -n 1
}

run() { # TARGET
	name=${1##*/fuzz-}
	seeds=${top_srcdir:?}/tests/fuzz/seeds/$name
	work=$(mktemp -d)
	trap 'rm -rf "$work" "$work".*' EXIT
	corpus=$work
	if [ "$mode" = long ]; then
		corpus=fuzz-corpus/$name
		mkdir -p "$corpus"
	fi
	status=0
	# The words of the seeds, which libFuzzer would have to find by chance.
	grep -aohE '[A-Za-z][A-Za-z_.-]{2,30}' "$seeds"/* | sort -u | sed 's/.*/"&"/' >"$work.words"
	fuzz "$1" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="crash-$name-" \
		-dict="$work.words" "$corpus" "$seeds" >"$work.log" 2>&1 || status=$?
	executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work.log")
	# A target that has lost its output has ended early.
	[ -n "$executions" ] || [ $status != 0 ] || status=1
	if [ $status != 0 ]; then
		echo "$name: failed after ${executions:-some} executions, coverage $(last_number cov)," \
			"findings: $(keep_crashes)"
		grep -Ev '^#[0-9]+[[:space:]]+(NEW|REDUCE|pulse|INITED|RELOAD)' "$work.log" | tail -n 100
	elif [ "$mode" = long ]; then
		added=$(merge_seeds "$1")
		echo "$name: $executions executions in $seconds s, coverage $(last_number cov)," \
			"findings: 0, new seeds: $added"
	else
		echo "$name: $executions executions in $seconds s"
	fi
	return $status
}

chosen() { # TARGET...: those of FUZZ_TARGETS, in long runs
	for target; do
		case "$mode ${FUZZ_TARGETS:-} " in
		short* | "long  " | *" ${target##*/fuzz-} "*) echo "$target" ;;
		esac
	done
}

if [ -n "${FUZZ_ONE:-}" ]; then
	run "$1"
else
	jobs=${FUZZ_JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)}
	chosen "$@" | FUZZ_ONE=yes xargs -n 1 -P "$jobs" "$0" "$mode"
fi
