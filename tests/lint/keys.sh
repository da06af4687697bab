#!/bin/sh
# Every key of the one table is in swansong.ini(5), in the same order, and nothing else is there.
set -eu
table=$(sed -n 's/^[[:space:]]*\[KEY_[A-Z_]*\] = { "\([a-z-]*\)".*/\1/p' "$top_srcdir/src/model/keys.c")
page=$(sed -n 's/^\.It Cm \([a-z-]*\) Ns = .*/\1/p' "$top_srcdir/man/swansong.ini.5")
n=$(sed -n '/^enum key_id {/,/^};/p' "$top_srcdir/src/model/section.h" | grep -c '^[[:space:]]KEY_')
echo 1..5
if [ "$(echo "$table" | wc -l)" = "$n" ]; then
	echo "ok 1 - all $n keys are found in the table"
else
	echo "not ok 1 - all $n keys are found in the table"
fi
if [ "$table" = "$page" ]; then
	echo "ok 2 - the manual page has the keys of the table"
else
	printf '# table:\n%s\n# page:\n%s\n' "$table" "$page" | sed 's/^[^#]/# &/'
	echo "not ok 2 - the manual page has the keys of the table"
fi
# What a reload makes of a change: the last column of the table, and the list in the manual.
n=2
for pair in 'RESTART:a new process' 'NEXT_START:the next start' 'DAEMON:a new daemon'; do
	n=$((n + 1))
	has=$(tr '\n' ' ' <"$top_srcdir/src/model/keys.c" | sed 's/\[KEY_/\n&/g' |
		sed -n "/APPLY_${pair%%:*} }/s/.*\[KEY_[A-Z_]*\] = { \"\([a-z-]*\)\".*/\1/p" | sort)
	says=$(sed -n "/^\.Sh RELOAD/,/^\.Sh FILES/p" "$top_srcdir/man/swansong.ini.5" |
		sed -n "/^\.It ${pair#*:}$/,/^\.It /s/^\.Cm //p" | tr -d ',' | tr -s ' ' '\n' | sort)
	if [ "$has" = "$says" ]; then
		echo "ok $n - the manual page knows which keys need ${pair#*:}"
	else
		printf '# table:\n%s\n# page:\n%s\n' "$has" "$says" | sed 's/^[^#]/# &/'
		echo "not ok $n - the manual page knows which keys need ${pair#*:}"
	fi
done
