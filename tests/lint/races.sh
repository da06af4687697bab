#!/bin/sh
# A correct program that is built with ThreadSanitizer shows no race with the library as it is installed,
# which is not built with it; and a race of the program's own is found.
. "${0%/*}/lib.sh"
hold_libraries -s
libs=$top_builddir/src/swansong/.libs
if has_sanitizer; then
	echo "1..0 # SKIP machine: an installed library has no sanitizer"
	exit 0
fi
# Some versions do not know the places of memory that newer kernels choose.
fixed='setarch -R'
$fixed true 2>/dev/null || fixed=

build() { # COMPILER
	"$1" -std=gnu17 -O2 -g -Wall -Wextra -Werror -fsanitize=thread "$2" -I"$top_srcdir/src" \
		"$top_srcdir/tests/lint/races.c" -o "$dir/races" \
		-L"$libs" -lswansong-loop -lswansong -pthread
}

run() { # [ARGUMENT]
	# shellcheck disable=SC2086  # words
	LD_LIBRARY_PATH=$libs timeout 300 $fixed "$dir/races" "$@"
}

finds_race() {
	! run --flawed >"$dir/race" 2>&1 && grep 'WARNING: ThreadSanitizer: data race' "$dir/race"
}

for compiler in gcc clang; do
	echo 'int main(void) { return 0; }' >"$dir/empty.c"
	if ! $compiler -fsanitize=thread "$dir/empty.c" -o "$dir/empty" 2>/dev/null; then
		skip "$compiler: a correct program has no race" "package $compiler, or its sanitizer"
		continue
	fi
	for calls in -USWANSONG_NO_INLINE -DSWANSONG_NO_INLINE; do
		try "$compiler: a program is built with $calls" build $compiler $calls
		try "and it has no race" run
	done
	try "$compiler: a race of the program is found" finds_race
done
finish
