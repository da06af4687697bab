#!/bin/sh
# The objects that swansongctl(1) lists below JSON have the members that the interface defines, and no others.
. "${0%/*}/lib.sh"
interface=${top_srcdir:?}/src/proto/interface/types.h

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

# A line for each type of the interface: its name, and its members likewise.  PART and OTHER have the name first,
# as words have; other members have it behind their type.
awk '
	/^(VIEW|TYPE)\(/ { split($0, part, "\""); type = part[2] }
	/^\t[A-Z]/ {
		gsub(/[A-Z]+\([A-Z]+, /, "(")
		while (match($0, /\([a-z_]+/)) {
			print type, substr($0, RSTART + 1, RLENGTH - 1)
			$0 = substr($0, RSTART + RLENGTH)
		}
	}' "$interface" >"$dir/members"

# The members of Logs are for programs that read the pipe of the logger.
for type in $(cut -d' ' -f1 "$dir/members" | sort -u | grep -vx Output); do
	sed -n "s/^$type //p" "$dir/members" | LC_ALL=C sort | xargs >"$dir/type"
	try "$type: $(cat "$dir/type")" grep -Fxf "$dir/type" "$dir/page"
done
finish
