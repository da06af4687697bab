#!/bin/sh
# The files of the page lose their comments and indentation on the way into swansong-exporter, and nothing
# that has a meaning; a line that could be mistaken is refused.
. "${0%/*}/lib.sh"
embed=$top_srcdir/src/exporter/page/embed.awk

# The text of the constants, by the rules of C.
embedded() { # FILE...
	LC_ALL=C awk -f "$embed" "$@" >"$dir/files.inc" || return
	{
		echo '#include <stdio.h>'
		cat "$dir/files.inc"
		echo 'int main(void) { return fputs(page_sample_js, stdout) < 0; }'
	} >"$dir/print.c"
	"${CC:-cc}" -o "$dir/print" "$dir/print.c" && "$dir/print"
}

keeps_meaning() {
	cat >"$dir/sample.js" <<'JS'
/* A comment that begins the file,
 * and has `, " and // in it
   return 1;
 */
	const url = "http://x//y", path = 'a\\"b  { c';	/* why */

		const find = /[*"'/ ] = \/.*\//g, text = `${find ? "◑ " : `\` = ${ { a: url }.a } } `} */ x`
	/** one **/
	run(a / b, c * d - -e, (f) => f + ++g) /* one * two **/
	return / ( [ )/] ) /
	for (const b of c) {
		if (b)
			++d
	}
	export const sum = () =>
		a +
		"const b"
	/* last */
JS
	cat >"$dir/want" <<'JS'
let url="http://x//y",path='a\\"b  { c';let find= /[*"'/ ] = \/.*\//g,text=`${find?"◑ ":`\` = ${{a:url}.a} } `} */ x`
run(a / b,c*d- -e,(f)=>f+ ++g)
return / ( [ )/] ) /
for(let b of c){if(b)++d
}export let sum=()=>a+"const b"
JS
	embedded "$dir/sample.js" >"$dir/got" || return
	diff "$dir/want" "$dir/got"
}

refuses() { # TEXT
	printf '%s\n' "$1" >"$dir/sample.js"
	! embedded "$dir/sample.js" 2>"$dir/reason" && cat "$dir/reason" && grep -q '^[^ ]*:[0-9]*: ' "$dir/reason"
}

refuses_size() {
	awk 'BEGIN { for (i = 0; i < 65537; i++) printf i % 100 ? "x" : "\n" }' >"$dir/sample.js"
	! embedded "$dir/sample.js" 2>"$dir/reason" && grep 'have 65[0-9]* bytes' "$dir/reason"
}

try "strings, templates and expressions keep their text" keeps_meaning
try "a comment within a line is refused" refuses 'call(a, /* why */ b);'
try "a comment before code is refused" refuses '/* why */ call();'
try "a string with the beginning of a comment is refused" refuses 'const glob = "logs/*";'
try "a template over several lines is refused" refuses 'const text = `a
	b`;'
try "a string over several lines is refused" refuses 'const text = "a \
	b";'
try "a comment without an end is refused" refuses '/* why
call();'
try "files that are too large are refused" refuses_size
finish
