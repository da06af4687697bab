# Each text file as a constant of C: index.html is page_index_html; PAGE_FILES lists them.  The program has them without the white
# space at the beginning of a line, without empty lines, and .js and .css without
#
#	- comments that begin a line, up to the end of a line, or are at its end, after white space;
#	- spaces beside punctuation, but within a string, a template or a regular expression, beside a slash
#	  and between two signs; in .css after {}:;, and before {} only;
#	- the end of a line after {,;( and in .css after }, where the ; before that goes, too; in .js after
#	  another sign that goes on, after a condition, and after a } that is alone: it ends a block.
#
# A const that begins a line is a let: it is shorter, and the scripts assign none.
#
# All that a line-wise reading could mistake is an error: another comment, text with
# /* in it, a string or a template that goes on in the next line; and files that are too large together.

function fail(reason) {
	printf "%s:%d: %s\n", FILENAME, FNR, reason >"/dev/stderr"
	exit failed = 1
}

# Returns the line without its comment.
function strip_comment(line) {
	if (line ~ /^\/\*/)
		within = 1
	if (within) {
		if (line ~ /\*\/./)
			fail("a comment ends before the line: put it at the end, or in a line of its own")
		within = line !~ /\*\/$/
		return ""
	}
	sub(/[ \t]+\/\*[^*]*(\*+[^*\/][^*]*)*\*+\/$/, "", line)
	if (line ~ /\/\*/)
		fail("/* within a line")
	return line
}

# A space between these two characters has no meaning.
function is_idle(last, next_one) {
	if (!is_script)
		return last ~ /[{}:;,]/ || next_one ~ /[{}]/
	if (last == "/" || next_one == "/" || (last ~ /[+-]/ && next_one ~ /[+-]/))
		return 0
	return last ~ /[][(){}<>=;:,?&|!*%+-]/ || next_one ~ /[][(){}<>=;:,?&|!*%+-]/
}

# Returns the line without spaces that have no meaning.  The stack has what is open: templates, and
# braces of expressions in them.
function squeeze(text,   out, stack, top, first, n) {
	out = stack = ""
	for (; text != ""; text = substr(text, n + 1)) {
		n = 1
		first = substr(text, 1, 1)
		top = substr(stack, length(stack))
		if (top == "`" && (first == "\\" || text ~ /^\$[{]/)) {
			n = 2
			stack = stack (first == "$" ? "{" : "")
		} else if (top == "`" ? first == "`" : top == "{" && first == "}")
			stack = substr(stack, 1, length(stack) - 1)
		else if (top == "`")
			;
		else if ((is_script && first == "`") || (top == "{" && first == "{"))
			stack = stack first
		else if (match(text, /^("([^"\\]|\\.)*"|'([^'\\]|\\.)*')/))
			n = RLENGTH
		else if (first ~ /["']/)
			fail("a string goes on in the next line")
		else if (is_script && out ~ /(^|[(,=:!&|?{};[]|return) ?$/ && match(text, /^\/(\[([^]\\]|\\.)*\]|[^\/\\[]|\\.)+\//))
			n = RLENGTH
		else if (!is_script && first == "}")
			sub(/;$/, "", out)
		else if (first == " " && is_idle(substr(out, length(out)), substr(text, 2, 1)))
			continue
		out = out substr(text, 1, n)
	}
	if (stack != "")
		fail("a template goes on in the next line")
	return out
}

# Returns true if the end of the line has no meaning.
function is_joined(line) {
	if (!is_script)
		return line ~ /[{},;(]$/
	return line ~ /(^}|[[{,;(=&|?:*<]|=>|[^+][+])$/ || line ~ /^(}else )?(if|for|while)\(.*\)$/
}

FNR == 1 {
	if (within)
		fail("a comment of the file before has no end")
	name = FILENAME
	sub(/.*\//, "", name)
	is_script = name ~ /\.js$/
	is_code = name ~ /\.(js|css)$/
	type = name
	sub(/.*\./, "", type)
	files = files (NR == 1 ? "" : ", ") "PAGE_FILE(\"" name "\", \"text/" (is_script ? "javascript" : type) "\", page_"
	gsub(/[^A-Za-z0-9]/, "_", name)
	files = files name ")"
	printf "%sstatic const char page_%s[] =", NR == 1 ? "" : ";\n", name
}
{
	gsub(/^[ \t]+|[ \t]+$/, "")
	line = is_code ? squeeze(strip_comment($0)) : $0
	if (line == "")
		next
	if (is_script && match(line, /^(export |for\()?const /))
		line = substr(line, 1, RLENGTH - 6) "let" substr(line, RLENGTH)
	end = is_code && is_joined(line) ? "" : "\\n"
	size += length(line) + (end != "")
	gsub(/[\\"]/, "\\\\&", line)
	printf "\n\t\"%s%s\"", line, end
}
END {
	print ";\n#define PAGE_FILES " files
	if (!failed && within)
		fail("a comment has no end")
	if (!failed && size > 65536)
		fail(sprintf("the files have %d bytes, want 65536 at most", size))
	exit failed
}
