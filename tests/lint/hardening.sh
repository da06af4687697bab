#!/bin/sh
# The programs and the library, as they were linked, have the protections that configure asks for.
# shellcheck source=tests/lint/lib.sh
. "${0%/*}/lib.sh"
hold_libraries -s

flags() { # VARIABLE: of the build
	sed -n "s/^$1 = *//p" "$top_builddir/Makefile"
}
asks_for() { # PART-OF-A-FLAG
	case $(flags HARDEN_CFLAGS) in
	*"$1"*) ;;
	*) return 1 ;;
	esac
}

command -v readelf >/dev/null || {
	echo "1..0 # SKIP package binutils"
	exit 0
}
[ -z "$(flags SANITIZE_CFLAGS)" ] || {
	echo "1..0 # SKIP machine: a build with a sanitizer is not hardened"
	exit 0
}

lacks() { # REGEX FILE
	! grep -E "$1" "$2"
}

# Jumps and returns are checked by the processor in a program of which every part is made for that.
has_cet() { # FILE
	readelf -nW "$1" 2>/dev/null | grep -q 'x86 feature:.*IBT.*SHSTK'
}
linker_keeps_cet() {
	echo 'int main(void) { return 0; }' >"$dir/empty.c"
	# shellcheck disable=SC2046  # lists of words
	${CC:-cc} $(flags HARDEN_CFLAGS) $(flags HARDEN_LDFLAGS) -o "$dir/empty" "$dir/empty.c" &&
		has_cet "$dir/empty"
}

check() { # FILE: what a program and a library have in common
	file=$1
	name=${file##*/}
	readelf -lW "$file" >"$dir/segments"
	readelf -dW "$file" >"$dir/dynamic"
	readelf -W --dyn-syms "$file" >"$dir/dynsyms"
	try "$name: relocations are read-only" grep -q GNU_RELRO "$dir/segments"
	try "$name: all symbols are bound at start" grep -qE '\(FLAGS\).*BIND_NOW' "$dir/dynamic"
	try "$name: the stack cannot be executed" grep -qE 'GNU_STACK.* RW +0x' "$dir/segments"
	try "$name: no segment is writable and executable" lacks "LOAD.* RWE " "$dir/segments"
	# Which is linked again when it is installed (install.sh).
	[ "$name" = libswansong-loop.so ] ||
		try "$name: no RPATH or RUNPATH" lacks "RPATH|RUNPATH" "$dir/dynamic"
	try "$name: the stack has canaries" grep -q __stack_chk_fail "$dir/dynsyms"
	if asks_for _FORTIFY_SOURCE; then
		try "$name: calls of the C library are fortified" grep -qE '__v?snprintf_chk' "$dir/dynsyms"
	else
		skip "$name: calls of the C library are fortified" "machine: not at -O0"
	fi
	if [ "$cet" = kept ]; then
		try "$name: jumps and returns are checked" has_cet "$file"
	fi
}

cet=lost
if ! asks_for -fcf-protection; then
	skip "jumps and returns are checked" "machine: the compiler has no -fcf-protection"
elif linker_keeps_cet; then
	cet=kept
else
	find "$top_builddir/src" -name '*.o' | while read -r object; do
		has_cet "$object" || echo "$object"
	done >"$dir/objects"
	try "every object is made for checks of jumps and returns" is_empty "$dir/objects"
	skip "so is every program" "machine: the C library is not"
fi
# Behind the wrapper of libtool, if there is one.
for program in swansongd swansongctl swansong-init swansong-logger swansong-sandbox swansong-inhibit swansong-exporter; do
	[ "$program" != swansong-exporter ] || [ -x "$top_builddir/$program" ] || continue # no libmicrohttpd
	file=$top_builddir/.libs/$program
	[ -x "$file" ] || file=$top_builddir/$program
	check "$file"
	try "$program: is position independent" grep -qE '\(FLAGS_1\).*PIE' "$dir/dynamic"
done
check "$top_builddir/src/swansong/.libs/libswansong.so"
check "$top_builddir/src/swansong/.libs/libswansong-loop.so"
finish
