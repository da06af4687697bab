#!/bin/sh
# README.md: its configuration is that of conf/tour.ini, its plan is the output of swansongctl, the targets of its
# links and of those of the other texts exist, it has a link to each page of the manual, and it is short.  Its tour:
# tests/integration/readme.sh.
. "${0%/*}/lib.sh"
readme=${top_srcdir:?}/README.md

sed -n '/^[[:punct:]]\{3\}ini$/,/^[[:punct:]]\{3\}$/{/^[[:punct:]]\{3\}/d;p;}' "$readme" >"$dir/swansong.ini"
try "the configuration is that of conf/tour.ini" diff "$dir/swansong.ini" "$top_srcdir/conf/tour.ini"
try "the configuration is valid" "${top_builddir:?}/swansongctl" check "$dir/swansong.ini"

# Indented by four; ends before the next command.
sed -n '/^    \$ swansongctl plan  /,/^    worst case/{/\$/d;s/^    //;p;}' "$readme" >"$dir/says"
"$top_builddir/swansongctl" plan --config "$dir/swansong.ini" >"$dir/is" 2>&1 || :
try "the plan is that of the configuration" diff "$dir/says" "$dir/is"

# Images as well.
links() { # FILE
	grep -o '](\([^)]*\))' "$1" | sed 's/^](//; s/)$//' | sort -u
}
links "$readme" >"$dir/links"
# The anchor of a heading, as the forges make it.
anchors() { # FILE
	sed -n 's/^#* //p' "$1" | tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9_\n-'
}
for file in "$top_srcdir"/*.md "$top_srcdir"/contrib/*/*.md; do
	links "$file" | while read -r link; do
		target=${file%/*}/${link%#*}
		case $link in
		http*) continue ;;
		"#"*) target=$file ;;
		esac
		case $target in
		*/.ci/* | */.github/*) [ -e "$top_srcdir/.git" ] || continue ;; # not in a tarball
		esac
		[ -e "$target" ] || echo "${file#"$top_srcdir/"}: no $link"
		case $link in
		*"#"*) anchors "$target" | grep -qx "${link#*#}" || echo "${file#"$top_srcdir/"}: no $link" ;;
		esac
	done
done >"$dir/missing"
try "README.md has links" test -s "$dir/links"
try "the targets of the links of each text exist" is_empty "$dir/missing"

(cd "$top_srcdir" && ls man/*.[1-9] man/*.[1-9].in) | sort >"$dir/pages"
comm -23 "$dir/pages" "$dir/links" >"$dir/unlinked"
try "it links to every page of the manual" is_empty "$dir/unlinked"
try "it has fewer than 150 lines" test "$(wc -l <"$readme")" -lt 150
finish
