#!/bin/sh
# Every key of the one table is in swansong.ini(5), in the same order, and nothing else is there.
. "${0%/*}/lib.sh"
page=${top_builddir:?}/man/swansong.ini.5
completion=$top_builddir/contrib/completion

keys >"$dir/table"
tr '\n\t' '  ' <"${top_srcdir:?}/src/model/base/table.h" | sed 's/KEY(/\n&/g' | sed -n '/^KEY([A-Z_]*, "/p' >"$dir/rows"
sed -n 's/^\.It Cm \([a-z-]*\) Ns = .*/\1/p' "$page" >"$dir/page"
try "the table is found" test -s "$dir/table"
try "the manual page has the keys of the table" diff "$dir/table" "$dir/page"

# The lists that the build makes of the table.
sort "$dir/table" >"$dir/sorted"
sed -n '/^\.Sh ALL KEYS/,/^\.Sh FILE FORMAT/s/^\.It Cm \([a-z-]*\) Ta .*/\1/p' "$page" | sort >"$dir/all"
try "all of them are in the table of all keys" diff "$dir/sorted" "$dir/all"
grep -E "^\\.It Cm [a-z-]+ Ta (.{15,}|-|with|the|what) Ta " "$page" |
	grep -v '^\.It Cm command ' >"$dir/undefined" || :
try "each key has a short default there, after Default: in its item" is_empty "$dir/undefined"
sed -n '/^\.It a new process/,/^\.It the reload itself/s/^\.Cm //p' "$page" | tr -d ',' |
	tr -s ' ' '\n' | sed '/^$/d' | sort >"$dir/reload"
comm -13 "$dir/sorted" "$dir/reload" >"$dir/unknown"
try "no other key is in the lists of RELOAD" is_empty "$dir/unknown"
try "those that count at once are in none of them" \
	test "$(($(grep -c ' LIVE,  *"' "$dir/rows") + $(wc -l <"$dir/reload")))" -eq "$(wc -l <"$dir/table")"
grep -n '@[a-z]*\( [A-Z_]*\)*@' "$page" "$completion"/*swansongctl >"$dir/left" || :
try "nothing is left to be filled in" is_empty "$dir/left"

# 54 columns remain beside the name.
grep -E '"[^"]{55,}"\)' "$dir/rows" >"$dir/long" || :
try "the text of a key is one line" is_empty "$dir/long"
finish
