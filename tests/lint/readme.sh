#!/bin/sh
# README.md: its configuration is one, its plan is what swansongctl says of it, and what it links to is
# there, with all pages of the manual.
set -eu
readme=${top_srcdir:?}/README.md
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
result() { # NAME STATUS OUTPUT-FILE
	n=$((n + 1))
	if [ "$2" = 0 ]; then echo "ok $n - $1"; else sed 's/^/# /' "$3"; echo "not ok $n - $1"; fi
}

sed -n '/^[[:punct:]]\{3\}ini$/,/^[[:punct:]]\{3\}$/{/^[[:punct:]]\{3\}/d;p;}' "$readme" >"$dir/swansong.ini"
status=0
"${top_builddir:?}/swansongctl" check "$dir/swansong.ini" >"$dir/output" 2>&1 || status=1
result "the configuration is one" "$status" "$dir/output"

# Indented by four; the next command is not of it.
sed -n '/^    \$ swansongctl plan  /,/^    worst case/{/\$/d;s/^    //;p;}' "$readme" >"$dir/says"
"$top_builddir/swansongctl" plan --config "$dir/swansong.ini" >"$dir/is" 2>&1 || :
status=0
diff "$dir/says" "$dir/is" >"$dir/output" || status=1
result "the plan is that of the configuration" "$status" "$dir/output"

# Images as well.
grep -o '](\([^)]*\))' "$readme" | sed 's/^](//; s/)$//' | sort -u >"$dir/links"
: >"$dir/output"
while read -r link; do
	case $link in
	http*) ;;
	*) [ -e "$top_srcdir/$link" ] || echo "no $link" >>"$dir/output" ;;
	esac
done <"$dir/links"
status=0
[ -s "$dir/links" ] && [ ! -s "$dir/output" ] || status=1
result "what it links to is there" "$status" "$dir/output"

(cd "$top_srcdir" && ls man/*.[1-9]) | sort >"$dir/pages"
comm -23 "$dir/pages" "$dir/links" >"$dir/output"
status=0
[ ! -s "$dir/output" ] || status=1
result "it links to every page of the manual" "$status" "$dir/output"
echo "1..$n"
