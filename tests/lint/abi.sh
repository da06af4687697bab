#!/bin/sh
# The binary interface of the libraries is that of the baselines in tests/lint/abi: programs need not be built
# again.  abi.sh --write renews the baselines, for a new version of the ABI or new functions.  The offsets that
# are inlined in programs have static asserts in the sources.
. "${0%/*}/lib.sh"
: "${top_srcdir:=.}" "${top_builddir:=build}"
baselines=$top_srcdir/tests/lint/abi
libs=$top_builddir/src/swansong/.libs

# Only what the public headers declare.
mkdir "$dir/public"
cp "$top_srcdir"/src/swansong/*.h "$dir/public"

describe() { # LIBRARY: to standard output
	abidw --exported-interfaces-only --headers-dir "$dir/public" --drop-private-types --no-corpus-path \
		--no-comp-dir-path --no-show-locs --no-elf-needed --type-id-style hash "$libs/$1.so" |
		sed "s|path='\(\.\./\)*|path='|"
}

if [ "${1-}" = --write ]; then
	for library in libswansong libswansong-loop; do
		describe $library >"$baselines/$library.abi"
	done
	exit
fi

compare() { # BASELINE LIBRARY
	describe "$2" >"$dir/$2.abi" && abidiff --no-added-syms "$1" "$dir/$2.abi"
}

finds_a_smaller_guard() {
	sed "/class-decl name='swansong_guard'/s/size-in-bits='256'/size-in-bits='192'/" \
		"$baselines/libswansong.abi" >"$dir/smaller.abi"
	! cmp -s "$dir/smaller.abi" "$baselines/libswansong.abi" && ! compare "$dir/smaller.abi" libswansong
}

finds_a_missing_function() {
	sed 's/swansong_drain/swansong_strain/g' "$baselines/libswansong.abi" >"$dir/more.abi"
	! compare "$dir/more.abi" libswansong
}

hold_libraries -s
if ! command -v abidiff >/dev/null; then
	echo "1..0 # SKIP package abigail-tools"
	exit 0
elif [ "$(uname -m)" != x86_64 ]; then
	echo "1..0 # SKIP machine: the baselines are those of x86_64"
	exit 0
elif ! grep -q '^VERSION_CODENAME=bookworm' /etc/os-release; then
	# Other compilers and versions of abidw describe the same types in other words.
	echo "1..0 # SKIP machine: the baselines are those of the compiler of Debian 12"
	exit 0
elif has_sanitizer ||
	! readelf -SW "$libs/libswansong.so" | grep -q debug_info; then
	echo "1..0 # SKIP machine: the library has no debug information, or a sanitizer"
	exit 0
fi
for library in libswansong libswansong-loop; do
	try "$library: its binary interface is that of the baseline" compare "$baselines/$library.abi" "$library"
done
try "a change of a structure would be found" finds_a_smaller_guard
try "a missing function would be found" finds_a_missing_function
finish
