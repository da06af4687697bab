#!/bin/sh
# The objects that swansongctl(1) lists below JSON have the members that the interface defines, and no others.
. "${0%/*}/lib.sh"
interface=${top_srcdir:?}/src/proto/interface/interface-text.c

# A line for each object of the page: its own members, in the order of their names.
sed -n '/^\.Ss JSON/,/^\.Sh/s/^\.Dl //p' "$top_srcdir/man/swansongctl.1" | sed 's/\\&//g' | awk '
	{
		depth = 0
		while (match($0, /"[^"]*"|[{}:]/)) {
			token = substr($0, RSTART, RLENGTH)
			$0 = substr($0, RSTART + RLENGTH)
			if (token == "{")
				object[++depth] = ""
			else if (token == "}")
				print object[depth--]
			else if (token != ":" && last != ":")
				object[depth] = object[depth] " " substr(token, 2, length(token) - 2)
			last = token
		}
	}' | while read -r members; do
	echo "$members" | xargs -n 1 | LC_ALL=C sort | xargs
done >"$dir/page"
try "the page has objects" test -s "$dir/page"

# The types of the interface; those of Logs are for programs that read the pipe of the logger.
for type in $(sed -n 's/^\t"type \([A-Za-z]*\) (.*/\1/p' "$interface" | grep -vx Output); do
	sed -n '/^\t"type '"$type"' (/,/^\t")/s/^\t"\\t\([a-z0-9_]*\): .*/\1/p' "$interface" | LC_ALL=C sort | xargs >"$dir/type"
	try "$type: $(cat "$dir/type")" grep -Fxf "$dir/type" "$dir/page"
done
finish
