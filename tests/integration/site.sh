#!/bin/bash
# make site: pages without a fault, a broken link or anything from elsewhere, each below 300 kB with all that it loads; in a
# browser at two widths, light and dark, they fit and can be read; the search finds a key; and without JavaScript all is there.
. "${0%/*}/lib.sh"
requires_package mandoc mandoc
requires_package dot graphviz
requires_package python3 python3
. "${0%/*}/page-lib.sh"
site=$dir/site

make_site() {
	(unset MAKEFLAGS MFLAGS MAKELEVEL
	make -s -C "$top_builddir" site html_folder="$dir/html" site_folder="$site" \
		SITE_URL=https://example.org SITE_CONTACT=mailto:security@example.org SITE_POLICY=https://example.org/policy)
}
ok "the site is made" make_site
pages=$(cd "$site" && printf '%s\n' *.html)
is "its pages have no fault" "$(python3 "$top_srcdir/tests/helpers/site.py" "$site")" "$(echo "$pages" | wc -l) pages"
for page in "$top_srcdir"/man/*.[1-9]*; do
	page=${page##*/}
	[ -e "$site/${page%.in}.html" ] || echo "$page"
done >"$dir/missing"
is "it has each page of the manual" "$(cat "$dir/missing")" ""
security=$site/.well-known/security.txt
is "security.txt has the fields of RFC 9116" "$(cut -d : -f 1 "$security" | xargs)" \
	"Contact Expires Preferred-Languages Canonical Policy"
ok "each filled in" not grep '@[A-Z]*@' "$security"

url=file://$site/
open_browser
faults() { # WIDTH SCHEME
	local name
	page size "$1" 900 && page scheme "$2" || echo "$reply"
	for name in $pages; do
		page visit "$url$name" || echo "$name: $reply"
		page eval '[document.documentElement.scrollWidth > '"$1"', [...document.images].filter((i) => !i.naturalWidth).length]'
		[ "$reply" = "[false, 0]" ] || echo "$name: too wide, or without a picture: $reply"
		page contrast
		[ -z "$reply" ] || echo "$name: contrast: $reply"
		page console
		[ -z "$reply" ] || echo "$name: console: $reply"
		case $name in index.html | how.html | tutorial.html | manual.html) page shot "$pictures/site-${name%.html}-$1-$2.png" ;; esac
	done
}
for width in 360 1280; do
	for scheme in light dark; do
		is "each page can be read at a width of $width, $scheme" "$(faults $width $scheme)" ""
	done
done

page visit "${url}manual.html"
page keys drain-timeout
page_becomes "the search finds a key" \
	"document.querySelector('#found a')?.getAttribute('href').startsWith('swansong.ini.5.html#drain-timeout')"
page eval "document.querySelector('#found a').click()"
page_becomes "its link leads to the definition" \
	"location.pathname.endsWith('swansong.ini.5.html') && document.getElementById(location.hash.slice(1))?.tagName === 'DT'"
page visit "${url}manual.html"
page keys "held up by"
page_becomes "and words of a text" "document.querySelectorAll('#found li').length > 3"
page keys " xyzzy"
page_becomes "a search without a result has a message" "!document.getElementById('nothing').hidden"

page script off
page visit "${url}manual.html"
page_is "without JavaScript there is no search" "document.querySelector('form').offsetHeight" 0
page_is "but a link to each key" "document.querySelector('.terms').childElementCount > 100" true
page visit "${url}how.html"
page_is "and the pictures" "document.querySelectorAll('svg').length" 3
finish
