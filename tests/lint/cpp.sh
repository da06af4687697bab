#!/bin/sh
# The header for C++ works with each compiler, and so does its example.
. "${0%/*}/lib.sh"
hold_libraries -s
libs=$top_builddir/src/swansong/.libs
if has_sanitizer; then
	echo "1..0 # SKIP machine: a program from outside has no sanitizer"
	exit 0
fi
compilers=$(command -v g++ clang++ || :)
# shellcheck disable=SC2086  # a list of words
if is_unchanged "$libs"/*.so "$top_srcdir"/src/swansong/*.h "$top_srcdir"/contrib/cpp/* "${0%.sh}.cpp" $compilers; then
	try "nothing has changed since it passed" true
	finish
	exit
fi
mkdir "$dir/swansong"
for header in "$top_srcdir"/src/swansong/*.h "$top_srcdir/contrib/cpp/swansong.hpp"; do
	ln -s "$(realpath "$header")" "$dir/swansong/"
done

build() { # COMPILER SOURCE [ARGUMENT...]
	compiler=$1 source=$2
	shift 2
	$compiler -std=c++17 -pedantic -Wall -Wextra -Wconversion -Werror "$@" -I"$dir" \
		"$source" -o "$dir/program" -L"$libs" -Wl,-rpath-link,"$libs" -Wl,--as-needed -lswansong-loop -lswansong -pthread
}

run() { # FILE: for its output
	LD_LIBRARY_PATH=$libs timeout 60 "$dir/program" >"$1" 2>&1
}

keeps_promises() {
	run "$dir/results" && cat "$dir/results" && ! grep '^not ok' "$dir/results"
}

example_runs() {
	run "$dir/said" && tail -n 1 "$dir/said" | grep -x 'served 19 of 20'
}

for compiler in g++ clang++; do
	if ! command -v $compiler >/dev/null; then
		skip "$compiler: the header is compiled" "package $compiler"
		continue
	fi
	for level in -O0 -O2; do
		try "$compiler $level: the header is compiled" \
			build $compiler "$top_srcdir/tests/lint/cpp.cpp" $level
		try "it keeps its promises" keeps_promises
	done
	if echo '#include <stop_token>' | $compiler -std=c++20 -fsyntax-only -xc++ - 2>/dev/null; then
		try "$compiler: it is C++20, too" \
			build $compiler "$top_srcdir/tests/lint/cpp.cpp" -std=c++20
		try "and has tokens that stop" keeps_promises
	fi
	try "$compiler: the example is compiled" build $compiler "$top_srcdir/contrib/cpp/example.cpp"
	try "and all that was begun in it is done" example_runs
done
passed
finish
