#!/bin/sh
# Every key of the one table is in swansong.ini(5), in the same order, and nothing else is there.
. "${0%/*}/lib.sh"
keys >"$dir/table"
sed -n 's/^\.It Cm \([a-z-]*\) Ns = .*/\1/p' "$top_srcdir/man/swansong.ini.5" >"$dir/page"
declared=$(sed -n '/^enum key_id {/,/^};/p' "$top_srcdir/src/model/section.h" | grep -c '^[[:space:]]KEY_')
try "all $declared keys are found in the table" test "$(wc -l <"$dir/table")" -eq "$declared"
try "the manual page has the keys of the table" diff "$dir/table" "$dir/page"
# What a reload makes of a change: the last column of the table, and the list in the manual.
for pair in 'RESTART:a new process' 'NEXT_START:the next start' 'DAEMON:a new daemon'; do
	tr '\n' ' ' <"$top_srcdir/src/model/keys.c" | sed 's/\[KEY_/\n&/g' |
		sed -n "/APPLY_${pair%%:*} }/s/.*\[KEY_[A-Z_]*\] = { \"\([a-z-]*\)\".*/\1/p" | sort >"$dir/has"
	sed -n "/^\.Sh RELOAD/,/^\.Sh FILES/p" "$top_srcdir/man/swansong.ini.5" |
		sed -n "/^\.It ${pair#*:}$/,/^\.It /s/^\.Cm //p" | tr -d ',' | tr -s ' ' '\n' | sort >"$dir/says"
	try "the manual page knows which keys need ${pair#*:}" diff "$dir/has" "$dir/says"
done
finish
