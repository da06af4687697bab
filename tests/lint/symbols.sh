#!/bin/sh
# Each shared library exports exactly the names in its list.  Each name and each public header has a
# manual page, except for names that end in _, which only inline functions and the other library use.
# shellcheck source=tests/lint/lib.sh
. "${0%/*}/lib.sh"
hold_libraries -s
export LC_ALL=C

exports_its_list() { # LIBRARY
	nm -D --defined-only "$top_builddir/src/swansong/.libs/$1.so" |
		awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort >"$dir/exported"
	sed -n 's/^[[:space:]]*\(swansong_[a-z_]*\);$/\1/p' "$top_srcdir/src/swansong/$1.sym" | sort >"$dir/listed"
	diff "$dir/listed" "$dir/exported"
}

# The package of Debian lists each name with the version that added it.
is_packaged() { # LIBRARY
	sed -n 's/^ \(swansong_[a-z_]*\)@.*/\1/p' "$top_srcdir/contrib/packaging/debian/${1}0.symbols" |
		diff "$dir/listed" -
}

has_pages() { # LIBRARY
	sed -n 's/^[[:space:]]*\(swansong_[a-z_]*[a-z]\);$/\1/p' "$top_srcdir/src/swansong/$1.sym" |
		while read -r symbol; do
			grep -q "^\.Nm $symbol\b" "$top_srcdir"/man/*.3 || echo "$symbol"
		done >"$dir/missing"
	is_empty "$dir/missing"
}

# A function that is a cancellation point by mistake can hold a lock for ever.
is_cancelled() { # LIBRARY
	sed -n 's/^[[:space:]]*\(swansong_[a-z_]*[a-z]\);$/\1/p' "$top_srcdir/src/swansong/$1.sym" |
		while read -r symbol; do
			grep -q "\b${symbol%_at}(" "$top_srcdir"/tests/unit/swansong/test-cancel*.c || echo "$symbol"
		done >"$dir/missing"
	is_empty "$dir/missing"
}

# Threads, fork handlers, and the kernel's data of a thread outlive a dlclose().
stays() { # LIBRARY
	readelf -dW "$top_builddir/src/swansong/.libs/$1.so" | grep 'Flags:.*NODELETE'
}

# A program that needs no loop does not pay for one.
needs_only_libc() {
	readelf -dW "$top_builddir/src/swansong/.libs/libswansong.so" |
		sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$dir/needed"
	! grep -v -e '^libc\.' -e '^ld-' -e '^lib[a-z]*san\.' -e '^libgcc_s\.' -e '^libm\.' "$dir/needed"
}

# The archives of configure --enable-static, made of the same objects.
archive_shows_only_ours() {
	for part in src/swansong/.libs/libswansong-core.a src/base/.libs/libbase.a; do
		[ -f "$top_builddir/$part" ] || part=$(echo "$part" | sed 's|\.libs/||')
		(mkdir -p "$dir/o" && cd "$dir/o" && ar x "$(cd "$OLDPWD" && realpath "$top_builddir/$part")")
	done
	ar rcs "$dir/all.a" "$dir"/o/*.o
	"$top_srcdir/src/swansong/hide-names" "$dir/all.a"
	nm -g --defined-only "$dir/all.a" | awk 'NF == 3 && $3 !~ /^swansong_/' >"$dir/others"
	is_empty "$dir/others" && nm -g --defined-only "$dir/all.a" | grep -q ' T swansong_new$'
}

for library in libswansong libswansong-loop; do
	try "$library: exports are those of the symbol file" exports_its_list "$library"
	try "$library: the package has a version for each export" is_packaged "$library"
	try "$library: every export has a manual page" has_pages "$library"
	try "$library: a thread is cancelled in each function by a test" is_cancelled "$library"
	try "$library: the library stays when it is closed" stays "$library"
done
try "libswansong needs the C library only" needs_only_libc
if grep -q -e __asan_init -e __tsan_init "$top_builddir/src/swansong/.libs/libswansong.so"; then
	skip "an archive shows our names only" "machine: the names of a sanitizer are others"
else
	try "an archive shows our names only" archive_shows_only_ours
fi
for header in "$top_srcdir"/src/swansong/*.h; do
	case ${header##*/} in *-private.h | declare.h) continue ;; esac
	grep -q "^\.In swansong/${header##*/}$" "$top_srcdir"/man/*.3 || echo "${header##*/}"
done >"$dir/missing"
try "every public header has a manual page" is_empty "$dir/missing"
finish
