#!/bin/sh
# Every page of the manual is clean and complete when it is shown, its tables fit a terminal, and the
# pages of swansong that it refers to exist, also in HTML.
. "${0%/*}/lib.sh"

# All pages in a folder: the build makes some of them.
mkdir "$dir/man"
cp "${top_srcdir:?}"/man/*.[1-9] "${top_builddir:?}"/man/*.[1-9] "$dir/man" 2>/dev/null || :
cd "$dir/man" || exit
for page in "$top_srcdir"/man/*.[1-9].in; do
	page=${page##*/}
	[ -e "${page%.in}" ] || echo "no ${page%.in}"
done >"$dir/unmade"
try "all pages are made" is_empty "$dir/unmade"
if command -v mandoc >/dev/null; then
	try "all pages are clean" mandoc -Tlint -Wwarning ./*.[1-9]
else
	skip "all pages are clean" "package mandoc"
fi

# A quotation mark that begins a word belongs to the macro, and is not shown.
grep -nE '^\.(Dl|D1|Ql|Li) .* "' ./*.[1-9] >"$dir/quotes" || :
try "no quotation mark is lost" is_empty "$dir/quotes"

# In a table, a cell that is too long makes groff break every word of the next one.  Without AD, groff 1.23 complains of
# each line of a prototype that it cannot adjust.
if command -v groff >/dev/null; then
	for page in ./*.[1-9]; do
		groff -mandoc -Tutf8 -ww -rLL=78n -dAD=l "$page" 2>&1 >/dev/null | sed "s|^|$page: |"
	done >"$dir/broken"
	try "groff has no complaint, and the tables fit" is_empty "$dir/broken"
else
	skip "groff has no complaint, and the tables fit" "package groff-base"
fi

# A section is one of the same page, or of the page that follows: .Sx SECTION, in, .Xr PAGE NUMBER.
awk '
	FNR == 1 { page = FILENAME; sub(/^\.\//, "", page) }
	/^\.S[hs] / { section[page, substr($0, 5)] = 1 }
	wanted != "" && !(/^in$/ && last ~ /^\.Sx/) { named[(/^\.Xr/ && last == "in" ? $2 "." $3 : from) SUBSEP wanted] = from; wanted = "" }
	/^\.Sx / { wanted = substr($0, 5); sub(/ [.,:;)]+( [.,:;)]+)*$/, "", wanted); from = page }
	{ last = $0 }
	END { for (n in named) if (!(n in section)) { from = named[n]; sub(SUBSEP, ": no section ", n); print from " refers to " n } }' ./*.[1-9] \
	>"$dir/sectionless"
try "sections that are referred to exist" is_empty "$dir/sectionless"

sed -n 's/^\.Xr \([^ ]*swansong[^ ]*\) \([1-9]\).*/\1.\2/p' ./*.[1-9] | sort -u >"$dir/named"
while read -r page; do
	[ -e "$page" ] || grep -qs "^\.Nm ${page%.*}\( ,\)\{0,1\}$" ./*."${page##*.}" || echo "no $page"
done <"$dir/named" >"$dir/missing"
try "pages of swansong are referred to" test -s "$dir/named"
try "pages of swansong that are referred to exist" is_empty "$dir/missing"

# HTML, as for a web site.
if command -v mandoc >/dev/null; then
	(unset MAKEFLAGS MFLAGS MAKELEVEL && make -s -C "$top_builddir" html) >"$dir/html" 2>&1 || :
	cd "$top_builddir/man/html" || exit
	for page in "$dir"/man/*.[1-9]; do
		grep -q "href=\"${page##*/}.html\"" index.html || echo "no ${page##*/} in the index"
	done >>"$dir/html"
	grep -oh 'href="[^":#]*"' ./*.html | sed 's/href="\(.*\)"/\1/' | sort -u | while read -r target; do
		[ -e "$target" ] || echo "a link to $target, which does not exist"
	done >>"$dir/html"
	try "make html makes all pages, with links between them" is_empty "$dir/html"
else
	skip "make html makes all pages, with links between them" "package mandoc"
fi
finish
