#!/bin/sh
# Every page of the manual is clean, its tables fit a terminal, and it refers to pages that exist, which
# are ours if they have our name.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
result() { # NAME STATUS OUTPUT-FILE
	n=$((n + 1))
	if [ "$2" = 0 ]; then echo "ok $n - $1"; else sed 's/^/# /' "$3"; echo "not ok $n - $1"; fi
}
skip() { # NAME REASON
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

cd "${top_srcdir:?}/man"
if command -v mandoc >/dev/null; then
	status=0
	mandoc -Tlint -Wwarning ./*.[1-9] >"$dir/output" || status=1
	result "all pages are clean" "$status" "$dir/output"
else
	skip "all pages are clean" "package mandoc"
fi

# In a table, a cell that is too long makes groff break every word of the next one.
if command -v groff >/dev/null; then
	for page in $(grep -l '^\.Bl -column' ./*.[1-9]); do
		groff -mandoc -Tutf8 -ww -rLL=78n "$page" 2>&1 >/dev/null |
			sed -n "/can't break line/s|^|$page: |p"
	done >"$dir/output"
	status=0
	[ ! -s "$dir/output" ] || status=1
	result "the tables fit" "$status" "$dir/output"
else
	skip "the tables fit" "package groff-base"
fi

sed -n 's/^\.Xr \([^ ]*swansong[^ ]*\) \([1-9]\).*/\1.\2/p' ./*.[1-9] | sort -u >"$dir/named"
: >"$dir/output"
while read -r page; do
	[ -e "$page" ] || grep -qs "^\.Nm ${page%.*}\( ,\)\{0,1\}$" ./*."${page##*.}" ||
		echo "no $page" >>"$dir/output"
done <"$dir/named"
status=0
[ -s "$dir/named" ] && [ ! -s "$dir/output" ] || status=1
result "our pages that are referred to exist" "$status" "$dir/output"
echo "1..$n"
