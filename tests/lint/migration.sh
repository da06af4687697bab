#!/bin/sh
# swansong-migration(7) names only keys that exist, and its examples are configurations.
set -eu
page=${top_srcdir:?}/man/swansong-migration.7
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
result() { # NAME STATUS OUTPUT-FILE
	n=$((n + 1))
	if [ "$2" = 0 ]; then echo "ok $n - $1"; else sed 's/^/# /' "$3"; echo "not ok $n - $1"; fi
}

# Ours are those after .Ic, with commas between.
sed -n 's/^\.//; /Ic /{s/ Ta /\n/g; p;}' "$page" | grep -oE 'Ic [a-z]+[-a-z]*( , [a-z]+[-a-z]*)*' |
	sed 's/^Ic //; s/ , /\n/g' | sort -u >"$dir/named"
sed -n 's/^[[:space:]]*\[KEY_[A-Z_]*\] = { "\([a-z-]*\)".*/\1/p' "$top_srcdir/src/model/keys.c" |
	sort -u >"$dir/keys"
# These come with the control groups.
to_come='signal-scope|kill-signal|kill-leftovers|cgroup-(memory-max|pids-max|cpu-weight)'
comm -23 "$dir/named" "$dir/keys" | grep -Evx "$to_come" >"$dir/unknown" || :
status=0
[ -s "$dir/named" ] && [ ! -s "$dir/unknown" ] || status=1
result "every key exists" "$status" "$dir/unknown"

# An example is what something else becomes.
awk -v dir="$dir" '
	/^becomes$/ { wanted = 1 }
	/^\.Bd -literal/ && wanted { wanted = 0; on = 1; file = dir "/" ++n ".ini"; next }
	/^\.Ed/ { on = 0 }
	on { print >file }
' "$page"
for example in "$dir"/*.ini; do
	status=0
	"${top_builddir:?}/swansongctl" check "$example" >"$dir/output" 2>&1 || status=1
	result "example ${example##*/}: $(sed -n '/^\[/{p;q;}' "$example")" "$status" "$dir/output"
done

status=0
if command -v mandoc >/dev/null; then
	mandoc -Tlint -Wwarning "$page" >"$dir/output" || status=1
	result "the page is clean" "$status" "$dir/output"
else
	n=$((n + 1))
	echo "ok $n - the page is clean # SKIP package mandoc"
fi
echo "1..$n"
