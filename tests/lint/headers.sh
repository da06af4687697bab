#!/bin/sh
# Every public header compiles alone, as C99, C11 and C++17.
set -eu
n=0
check() {
	n=$((n + 1))
	if "$@" -Wall -Wextra -Werror -I"$top_srcdir/src" -fsyntax-only "$h"; then
		echo "ok $n - ${h##*/}: $*"
	else
		echo "not ok $n - ${h##*/}: $*"
	fi
}
for h in "$top_srcdir"/src/swansong/*.h; do
	case $h in *-private.h) continue ;; esac
	# shellcheck disable=SC2086  # words: CC may be "ccache gcc"
	check ${CC:-cc} -std=c99 -pedantic -x c
	# shellcheck disable=SC2086
	check ${CC:-cc} -std=c11 -pedantic -x c
	if command -v c++ >/dev/null; then
		check c++ -std=c++17 -pedantic -x c++
	else
		n=$((n + 1))
		echo "ok $n - ${h##*/} # SKIP package g++"
	fi
done
echo "1..$n"
