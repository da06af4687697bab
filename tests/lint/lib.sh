# shellcheck shell=sh
# Shared functions of the lints.  A lint with more than a few results sources this file first:
#
#	. "${0%/*}/lib.sh"
#	try "the page is clean" mandoc -Tlint -Wwarning "$page"
#	finish
#
# Results are TAP.  $dir is a temporary folder of each lint.

set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
n_failed=0

result() { # NAME STATUS [FILE]: with the reason of a failure
	n=$((n + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n - $1"
	else
		n_failed=$((n_failed + 1))
		echo "not ok $n - $1"
		sed 's/^/# /' "${3:-/dev/null}"
	fi
}

try() { # NAME COMMAND...: it succeeds
	try_name=$1 # not an argument of the command
	try_status=0
	shift
	"$@" >"$dir/try" 2>&1 || try_status=1
	result "$try_name" "$try_status" "$dir/try"
}

# An installation links libswansong-loop again in its place, where it is missing meanwhile.
hold_libraries() { # -s: to read them; -x: to install them
	exec 9<"$top_builddir/src/swansong/.libs"
	flock "$1" 9
}

# The libraries of such a build are of no use to a program from outside.
has_sanitizer() {
	grep -q -e __asan_init -e __tsan_init -e __ubsan_handle "$top_builddir/src/swansong/.libs/libswansong.so"
}

is_empty() { # FILE: of complaints
	cat "$1" && [ ! -s "$1" ]
}

# As of a target of make: a lint that has passed since each of these files was changed need not run again.
is_unchanged() { # FILE...: what it reads; it calls passed() in the end
	good=$top_builddir/tests/lint/$(basename "$0" .sh).good
	touch "$dir/begun"
	[ -e "$good" ] && [ -z "$(find -L "$0" "$@" -cnewer "$good" 2>&1)" ]
}

passed() { # if no test has failed
	[ "$n_failed" != 0 ] || mv "$dir/begun" "$good"
}

skip() { # NAME REASON
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# Must be called last.
finish() {
	echo "1..$n"
}

# The keys of a configuration, of the one table, in its order.
keys() {
	sed -n 's/^KEY([A-Z_]*, "\([a-z-]*\)".*/\1/p' "$top_srcdir/src/model/base/table.h"
}
