#!/bin/sh
# An installed library is enough for another project: headers, shared object and pkg-config file, used
# from another directory, in C and in C++, and with the examples of the sources.
. "${0%/*}/lib.sh"
if ! command -v pkg-config >/dev/null; then
	echo "1..0 # SKIP package pkgconf"
	exit 0
fi
if has_sanitizer; then
	echo "1..0 # SKIP machine: another project has no sanitizer"
	exit 0
fi
install_it() {
	(unset MAKEFLAGS MFLAGS MAKELEVEL
	hold_libraries -x
	make -s -C "$top_builddir" DESTDIR="$dir/root" \
		install-libLTLIBRARIES install-swansongincludeHEADERS install-pkgconfigDATA)
}

# The pkg-config file has the final directory; the test has it below its own root.
ask() {
	pc=$(find "$dir/root" -name libswansong.pc)
	PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$dir/root pkg-config "$@"
}

# The program of the manual: the first example of the page.
example_of_page() {
	sed -n '/^\.Sh EXAMPLES/,/^\.Ed/p' "$top_srcdir/man/libswansong.3" |
		sed -e '/^\./d' -e 's/\\e/\\/g' >"$dir/page.c"
	example "$dir/page.c"
}

# Without a configuration of its own a fresh daemon would not start.
install_data() {
	(unset MAKEFLAGS MFLAGS MAKELEVEL
	make -s -C "$top_builddir" DESTDIR="$dir/data" install-data-local install-man install-data-hook)
}
conf_of_install() { find "$dir/data" -name swansong.ini; }
keeps_conf() {
	echo '; mine' >>"$(conf_of_install)" && install_data && grep -q '^; mine' "$(conf_of_install)"
}
names_conf() {
	grep -q "${sysconfdir:?}/swansong/swansong.ini" "$(find "$dir/data" -name swansongd.8)"
}
names_no_other() {
	find "$dir/data" -name '*.[1-9]' -exec grep -H /etc/swansong {} + | grep -v "$sysconfdir/swansong" >"$dir/other" || :
	is_empty "$dir/other"
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

# With inline functions, which call the library without -O.
compile() { # LANGUAGE COMPILER...
	language=$1
	shift
	# shellcheck disable=SC2046  # words
	"$@" -O2 -Wall -Wextra -Werror -x "$language" "$dir/stranger.c" -x none -o "$dir/stranger" \
		$(ask --cflags --libs libswansong)
}

run() {
	library=$(find "$dir/root" -name 'libswansong.so.*' -type f)
	LD_LIBRARY_PATH=${library%/*} "$dir/stranger"
}

example() {
	# shellcheck disable=SC2046,SC2086  # words
	${CC:-cc} -std=gnu17 -pthread "$1" -o "$dir/example" $(ask --cflags --libs libswansong-loop) \
		$(pkg-config --cflags --libs libsystemd)
}

try "it is installed" install_it
try "pkg-config knows the version" ask --atleast-version=0.1 libswansong libswansong-loop
# shellcheck disable=SC2086  # it may have arguments
try "a stranger's program in C is built" compile c ${CC:-cc} -std=c99
try "and runs" run
if command -v c++ >/dev/null; then
	try "a stranger's program in C++ is built" compile c++ c++ -std=c++17
	try "and runs" run
	sed 's/swansong\.h>/swansong.hpp>/; s/return swansong_wait/swan::node other;\n\n&/' \
		"$dir/stranger.c" >"$dir/stranger.cpp"
	mv "$dir/stranger.cpp" "$dir/stranger.c"
	try "one that uses the header for C++ is built" compile c++ c++ -std=c++17
	try "and runs" run
else
	skip "a stranger's program in C++" "package g++"
fi
for f in "$top_srcdir"/contrib/examples/*.c; do
	try "${f##*/} is built" example "$f"
done
# libswansong-loop finds libswansong beside it where the loader does not look for libraries.
no_runpath() {
	library=$(find "$dir/root" -name 'libswansong.so.*' -type f)
	libdir=${library%/*}
	find "$dir/root" -name 'libswansong*.so.*' -type f -exec readelf -dW {} + >"$dir/dynamic"
	! grep -E 'RPATH|RUNPATH' "$dir/dynamic" | grep -vF "[${libdir#"$dir/root"}]"
}
try "no library has an RPATH or RUNPATH but of where it is" no_runpath
private=$(find "$dir/root" -name '*-private.h')
try "no private header is installed" test -z "$private"
try "the example of the manual is a program" example_of_page
try "a configuration is installed" install_data
try "it is one" "${top_builddir:?}/swansongctl" check --trust-config "$(conf_of_install)"
try "it is never replaced" keeps_conf
try "the manual has the paths of the build" names_conf
try "and no page has those of another prefix" names_no_other
# A module that is not in the list is not installed, and not in the archive.
(cd "$top_srcdir/contrib/convert" && ls swansong_convert/*.py) | sort >"$dir/modules"
sed -n 's|.*/convert/\(swansong_convert/[a-z0-9_]*\.py\).*|\1|p' "$top_srcdir/contrib/local.mk" | sort >"$dir/listed"
try "each module of the converter is installed" cmp "$dir/modules" "$dir/listed"

# The packages and the crates have the version of configure.ac.
version=$(sed -n 's/^AC_INIT(\[[^]]*\], \[\([^]]*\)\].*/\1/p' "$top_srcdir/configure.ac")
packaging=$top_srcdir/contrib/packaging
try "configure.ac has a version" test -n "$version"
try "it is that of the package of rpm" grep -q "^Version: *$version\$" "$packaging/swansong.spec"
try "and of those of Debian" grep -q "^swansong ($version-" "$packaging/debian/changelog"
sed -n 's/^\(version\|swansong-sys\) .*"\([0-9][^"]*\)".*/\2/p' "$top_srcdir"/contrib/rust/*/Cargo.toml >"$dir/crates"
try "and of the crates" test "$(sort -u "$dir/crates")" = "$version"
finish
