# The members of structs in C sources: FILE STRUCT MEMBER.  One of a struct without a name of its own is NAME.MEMBER.
# Tables of constants are left out.
function note(text,    parts, n, i) {
	gsub(/\[[^]]*\]|:[^,]*/, "", text)
	if (sub(/.*\( *\*/, "", text)) # of a function
		sub(/[^a-z_0-9].*/, "", text)
	n = split(text, parts, ",")
	for (i = 1; i <= n; i++)
		if (sub(/ *$/, "", parts[i]) && match(parts[i], /[a-z_0-9]+$/))
			found[++count] = substr(parts[i], RSTART)
}
function parse(    head, token, i) {
	while (match(text, /[{};]/)) {
		head = substr(text, 1, RSTART - 1)
		token = substr(text, RSTART, 1)
		text = substr(text, RSTART + 1)
		if (token == "{") {
			if (!depth++ && match(head, /struct [a-z_0-9]+ *$/) && head !~ /const struct/) {
				split(substr(head, RSTART), words, " ")
				name = words[2]
				count = 0
			}
			from[depth] = count
		} else if (token == "}") {
			inner = from[depth--]
			for (i = 1; name != "" && !depth && i <= count; i++)
				print file, name, found[i]
			name = depth ? name : ""
		} else if (name != "" && ended) {
			gsub(/[^a-z_0-9]/, "", head)
			for (i = inner + 1; head != "" && i <= count; i++)
				found[i] = head "." found[i]
		} else if (name != "")
			note(head)
		ended = token == "}"
	}
	text = name = ""
	depth = ended = 0
}
FNR == 1 { parse(); file = FILENAME }
/^#/ || skip { skip = /\\$/; next }
{
	gsub(/\t/, " ")
	gsub(/"([^"\\]|\\.)*"|\047\\?.\047/, "")
	text = text " " $0
	gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text)
}
END { parse() }
