#!/bin/sh
# What is installed of the library is enough for a stranger: headers, shared object and pkg-config
# file, used from another place, in C and in C++, and with the examples that the sources come with.
set -eu
if ! command -v pkg-config >/dev/null; then
	echo "1..0 # SKIP package pkg-config"
	exit 0
fi
if grep -q -e __asan_init -e __tsan_init -e __ubsan_handle \
	"$top_builddir/src/swansong/.libs/libswansong.so"; then
	echo "1..0 # SKIP machine: a stranger has no sanitizer"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
result() { # NAME COMMAND...
	name=$1
	shift
	n=$((n + 1))
	if "$@" >"$dir/output" 2>&1; then
		echo "ok $n - $name"
	else
		sed 's/^/# /' "$dir/output"
		echo "not ok $n - $name"
	fi
}

install_it() {
	(unset MAKEFLAGS MFLAGS MAKELEVEL
	make -s -C "$top_builddir" DESTDIR="$dir/root" \
		install-libLTLIBRARIES install-swansongincludeHEADERS install-pkgconfigDATA)
}

# It speaks of the place where it will be; here that is below our root.
ask() {
	pc=$(find "$dir/root" -name libswansong.pc)
	PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$dir/root pkg-config "$@" libswansong
}

cat >"$dir/stranger.c" <<'END'
#include <swansong/swansong.h>

int main(void)
{
	struct swansong *root;
	struct swansong_guard guard;

	if (swansong_new(&root) < 0)
		return 1;
	guard = swansong_guard(root);
	swansong_shut_down(root);
	swansong_guard_drop(&guard);
	return swansong_wait(root, UINT64_MAX) < 0 || swansong_unref(root) ? 1 : 0;
}
END

# With what is inlined, which without -O calls the library.
compile() { # LANGUAGE COMPILER...
	language=$1
	shift
	# shellcheck disable=SC2046  # words
	"$@" -O2 -Wall -Wextra -Werror -x "$language" "$dir/stranger.c" -x none -o "$dir/stranger" \
		$(ask --cflags --libs)
}

run() {
	library=$(find "$dir/root" -name 'libswansong.so.*' -type f)
	LD_LIBRARY_PATH=${library%/*} "$dir/stranger"
}

example() {
	# shellcheck disable=SC2046,SC2086  # words
	${CC:-cc} -std=gnu17 -pthread "$1" -o "$dir/example" $(ask --cflags --libs) \
		$(pkg-config --cflags --libs libsystemd)
}

result "it is installed" install_it
result "pkg-config knows the version" ask --atleast-version=0.1
# shellcheck disable=SC2086  # it may have arguments
result "a stranger's program in C is built" compile c ${CC:-cc} -std=c99
result "and runs" run
if command -v c++ >/dev/null; then
	result "a stranger's program in C++ is built" compile c++ c++ -std=c++17
	result "and runs" run
else
	echo "ok $((n + 1)) - a stranger's program in C++ # SKIP package g++"
	n=$((n + 1))
fi
for f in "$top_srcdir"/contrib/examples/*.c; do
	result "${f##*/} is built" example "$f"
done
private=$(find "$dir/root" -name '*-private.h')
result "no private header is installed" test -z "$private"
echo "1..$n"
