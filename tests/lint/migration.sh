#!/bin/sh
# swansong-migration(7) names only keys that exist, and its examples are configurations.
. "${0%/*}/lib.sh"
page=${top_srcdir:?}/man/swansong-migration.7

# The keys of swansong.ini follow .Ic, separated by commas.
sed -n 's/^\.//; /Ic /{s/ Ta /\n/g; p;}' "$page" | grep -oE 'Ic [a-z]+[-a-z]*( , [a-z]+[-a-z]*)*' |
	sed 's/^Ic //; s/ , /\n/g' | sort -u >"$dir/named"
keys | sort -u >"$dir/keys"
comm -23 "$dir/named" "$dir/keys" >"$dir/unknown"
try "keys are named" test -s "$dir/named"
try "and every one exists" is_empty "$dir/unknown"

# An example is the result of a migration.
awk -v dir="$dir" '
	/^becomes$/ { wanted = 1 }
	/^\.Bd -literal/ && wanted { wanted = 0; on = 1; file = dir "/" ++n ".ini"; next }
	/^\.Ed/ { on = 0 }
	on { print >file }
' "$page"
for example in "$dir"/*.ini; do
	try "example ${example##*/}: $(sed -n '/^\[/{p;q;}' "$example")" \
		"${top_builddir:?}/swansongctl" check "$example"
done

if command -v mandoc >/dev/null; then
	try "the page is clean" mandoc -Tlint -Wwarning "$page"
else
	skip "the page is clean" "package mandoc"
fi
finish
