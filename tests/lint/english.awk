# Checks the English of comments, messages, names of tests and pages.  Prints "FILE:LINE: text", and rates
# as "FOLDER: text".
#
# Input: the files.  Variables: names and terms, each separated by commas.

BEGIN {
	split("who,whom,whose,whoever,nobody,somebody,anybody", list, ",")
	for (i in list) persons[list[i]]
	split("what,whatever", list, ",")
	for (i in list) whats[list[i]]
	split("who,what,that,one,those,whatever", list, ",")
	for (i in list) openings[list[i]]
	n = split(terms, list, ",")
	for (i = 1; i <= n; i++) term[list[i]]
	n = split(names, list, ",")
	for (i = 1; i <= n; i++) name[list[i]]
	quote = sprintf("%c", 39)
}

function folder_of(file,   part, n) {
	n = split(file, part, "/")
	if (n == 1 || part[1] == "man")
		return n == 1 ? file : "man"
	return part[1] "/" part[2] (part[2] == "unit" ? "/" part[3] : "")
}

FNR == 1 {
	file = FILENAME
	sub(/^\.\//, "", file)
	folder = folder_of(file)
	in_comment = in_block = in_fence = was_string = 0
	is_c = file ~ /\.[ch]$/
	is_message = is_c && file ~ /^src\//
	kind = is_c ? "c" : file ~ /\.md$/ ? "md" : file ~ /\.[1-9](\.in)?$/ ? "roff" : "sh"
}

function complain(text) {
	print file ":" FNR ": " text
}

# A word of a text; counted: of a comment or a page.
function word(w, counted) {
	if (counted) {
		total[folder]++
		if (w in persons) n_persons[folder]++
		if (w in whats) n_whats[folder]++
	}
	if (w in term)
		complain("not a term of the glossary: " w)
	else if ((last " " w) in term)
		complain("not a term of the glossary: " last " " w)
	else if ((before " " last " " w) in term)
		complain("not a term of the glossary: " before " " last " " w)
	before = last
	last = w
}

# Opening: the first word of it begins a comment, a message or a sentence.
function text(s, opening, counted, what,   part, n, i, w) {
	gsub(/\\?"[a-z_-]+\\?"/, " ", s) # a name of the protocol, or of a configuration
	gsub(/<[a-z]+/, " ", s) # an element of SVG or HTML
	n = split(s, part, /[^A-Za-z_'-]+/)
	for (i = 1; i <= n; i++) {
		if (part[i] == "" || part[i] == "leftover" && file ~ /interface\/types/)
			continue
		w = tolower(part[i])
		if (opening && w in openings && s ~ ("^[ \t*]*" part[i] "([ \t,]|$)"))
			complain(what " opens with " part[i])
		opening = 0
		word(w, counted)
	}
	return opening # none of its words yet
}

function forget() {
	before = last = ""
}

function message(s,   i, part, n) {
	if (s !~ / / || !is_message)
		return
	if (!was_string) {
		forget()
		text(s, 1, 0, "a message")
	} else
		text(s, 0, 0, "a message")
	n = split(tolower(s), part, /[^a-z_'-]+/)
	for (i = 1; i <= n; i++)
		if (part[i] in persons)
			complain("a message has " part[i])
}

function code(s,   i, part, n, j, parts, m) {
	if (s ~ /[^ \t]/)
		was_string = 0
	if (s ~ /START_TEST\(/) {
		sub(/.*START_TEST\(/, "", s)
		sub(/\).*/, "", s)
		gsub("_", " ", s)
		forget()
		text(s, s !~ /^one /, 0, "the name of a test")
		forget()
		return
	}
	n = split(tolower(s), part, /[^a-z0-9_]+/)
	for (i = 1; i <= n; i++) {
		if (part[i] !~ /_/ || part[i] ~ /kill_leftovers|leftover_timeout|command_leftover/)
			continue
		m = split(part[i], parts, "_")
		for (j = 1; j <= m; j++)
			if (parts[j] in name)
				complain("an identifier has a word that is not a term: " part[i])
	}
}

kind == "c" {
	s = $0
	while (s != "") {
		if (in_comment) {
			end = index(s, "*/")
			piece = end ? substr(s, 1, end - 1) : s
			is_opening = text(piece, is_opening, 1, "a comment")
			s = end ? substr(s, end + 2) : ""
			in_comment = !end
			continue
		}
		at = match(s, /["']|\/\*/)
		if (!at) {
			code(s)
			break
		}
		if (at > 1)
			code(substr(s, 1, at - 1))
		mark = substr(s, at, 1)
		s = substr(s, at + (mark == "/" ? 2 : 1))
		if (mark == "/") {
			in_comment = is_opening = 1
			forget()
			continue
		}
		for (i = 1; i <= length(s) && substr(s, i, 1) != mark; i++)
			if (substr(s, i, 1) == "\\")
				i++
		if (mark == "\"") {
			message(substr(s, 1, i - 1))
			was_string = 1
		}
		s = substr(s, i + 1)
	}
	next
}

function name_of_test(s,   i, part, n) {
	gsub(/\$\{?[A-Za-z_]*/, " ", s) # a variable
	sub(/^[^:]*: /, "", s) # the case of a loop
	forget()
	text(s, 1, 0, "the name of a test")
	forget()
	n = split(tolower(s), part, /[^a-z_'-]+/)
	for (i = 1; i <= n; i++)
		if (part[i] in persons)
			complain("the name of a test has " part[i])
}

kind == "sh" {
	if (file ~ /^tests\/integration\// && match($0, /(^|[ \t])(ok|is|like|within|die|skip) "[^"]*"/)) {
		name_text = substr($0, RSTART, RLENGTH - 1)
		sub(/^[^"]*"/, "", name_text)
		name_of_test(name_text)
	}
	if (FNR == 1 || $0 ~ /shellcheck/ || !match($0, /(^|[ \t])# /)) {
		in_block = 0
		next
	}
	if (!in_block)
		forget()
	text(substr($0, RSTART + RLENGTH), !in_block, 1, "a comment")
	in_block = $0 ~ /^[ \t]*#/
	next
}

kind == "md" {
	if ($0 ~ /^```/)
		in_fence = !in_fence
	if (!in_fence && $0 !~ /^    /)
		text($0, $0 ~ /^(Who|What|That|One|Those|Whatever) /, 1, "a sentence")
	next
}

# Each sentence begins a line.
kind == "roff" {
	s = $0
	if (s ~ /^\.\\"/)
		next
	gsub(/\\f.|\\&|\\\(../, "", s)
	if (s ~ /^\./) {
		sub(/^\.[A-Za-z]+/, "", s)
		gsub(/ (Ar|Cm|Fa|Fl|Fn|Ic|Li|No|Ns|Op|Pa|Ql|Sy|Va|Vt|Xr|Em|Ev|Dv|Er|Ft|Nm) /, " ", s)
	}
	text(s, s ~ /^ *(Who|What|That|One|Those|Whatever) /, 1, "a sentence")
}

END {
	for (f in total) {
		if (n_persons[f] * 1000 > total[f] * 1.0)
			printf "%s: who, whom, whose, whoever, nobody, somebody, anybody: %.1f in 1,000 words, under 1.0 wanted\n",
				f, n_persons[f] * 1000 / total[f]
		if (n_whats[f] * 1000 > total[f] * 4.0)
			printf "%s: what, whatever: %.1f in 1,000 words, under 4 wanted\n",
				f, n_whats[f] * 1000 / total[f]
	}
}
