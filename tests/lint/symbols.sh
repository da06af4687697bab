#!/bin/sh
# The shared library exports exactly what libswansong.sym lists, and each of it has a manual page, as has
# each public header; but for names that end in _, which only inlined functions use.
set -eu
so=$top_builddir/src/swansong/.libs/libswansong.so
got=$(nm -D --defined-only "$so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort)
want=$(sed -n 's/^[[:space:]]*\(swansong_[a-z_]*\);$/\1/p' "$top_srcdir/src/swansong/libswansong.sym" | sort)
echo 1..3
if [ "$got" = "$want" ]; then
	echo "ok 1 - exports are those of the symbol file"
else
	printf '# exported:\n%s\n# listed:\n%s\n' "$got" "$want" | sed 's/^[^#]/# &/'
	echo "not ok 1 - exports are those of the symbol file"
fi
missing=
for symbol in $want; do
	case $symbol in *_) continue ;; esac
	grep -q "^\.Nm $symbol\b" "$top_srcdir"/man/*.3 || missing="$missing $symbol"
done
[ -z "$missing" ] && echo "ok 2 - every export has a manual page" ||
	echo "not ok 2 - every export has a manual page:$missing"
missing=
for header in "$top_srcdir"/src/swansong/*.h; do
	case ${header##*/} in *-private.h | declare.h) continue ;; esac
	grep -q "^\.In swansong/${header##*/}$" "$top_srcdir"/man/*.3 || missing="$missing ${header##*/}"
done
[ -z "$missing" ] && echo "ok 3 - every public header has a manual page" ||
	echo "not ok 3 - every public header has a manual page:$missing"
