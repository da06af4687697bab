# Fills the keys of the table into a page of the manual or a completion:
#
#	awk -f keys.awk table.h TEMPLATE >FILE
#
#	@keys SCOPE@	a line: an mdoc row for each key of the scope, with its default and its text
#	@reload EFFECT@	a line: the names of the keys with this effect of a reload
#	@names@		in a line: the names of the keys that a transient service may have
#	@all X@		in a line: the names of all keys, with the character X between them
#	@choices@	a line: the same with their texts, as words 'name:text' of a shell

function add(row,   column) {
	gsub(/[ \t]+/, " ", row)
	sub(/^KEY\(/, "", row)
	sub(/"\)$/, "", row)
	split(row, column, /, ?/)
	name[++n] = column[2]
	gsub(/"/, "", name[n])
	scope[n] = column[3]
	reload[n] = column[6]
	text[n] = row
	sub(/.*"/, "", text[n])
}

function is_property(i) {
	return scope[i] != "ROOT" && scope[i] != "TEMPLATE" && name[i] != "command"
}

# The default of a key is in the line "Default: VALUE..." of its item, up to the first period, comma or
# semicolon, or to " for ".
function read_defaults(page,   line, item, i) {
	while ((getline line < page) > 0) {
		if (line ~ /^\.It Cm [a-z-]+ Ns = /) {
			if (last !~ /^\.It/)
				n_items = 0
			split(line, item, " ")
			items[++n_items] = item[3]
		}
		last = line
		if (!sub(/^Default: /, "", line))
			continue
		sub(/ *(\.$|[,;]| for ).*/, "", line)
		for (i = 1; i <= n_items; i++)
			default_of[items[i]] = line
	}
	close(page)
}

function print_rows(of,   i) {
	for (i = 1; i <= n; i++)
		if (scope[i] == of)
			printf ".It Cm %s Ta %s Ta %s\n", name[i],
				name[i] in default_of ? default_of[name[i]] : "-", text[i]
}

function print_names(effect,   i, line) {
	for (i = 1; i <= n; i++) {
		if (reload[i] != effect)
			continue
		if (length(line) + length(name[i]) > 70) {
			print ".Cm" line " ,"
			line = ""
		}
		line = line (line == "" ? " " : " , ") name[i]
	}
	print ".Cm" line
}

FNR == 1 && ++files == 2 {
	read_defaults(FILENAME)
}
files == 1 {
	if (/^KEY\(/)
		row = ""
	row = row " " $0
	if (/"\)$/)
		add(substr(row, 2))
	next
}
/^@keys [A-Z]*@$/ {
	print_rows(substr($2, 1, length($2) - 1))
	next
}
/^@reload [A-Z_]*@$/ {
	print_names(substr($2, 1, length($2) - 1))
	next
}
/^@choices@$/ {
	for (i = 1; i <= n; i++)
		if (is_property(i))
			printf "\t'%s:%s'\n", name[i], text[i]
	next
}
match($0, /@all .@/) {
	separator = substr($0, RSTART + 5, 1)
	for (i = 1; i <= n; i++)
		all = all (i == 1 ? "" : separator) name[i]
	$0 = substr($0, 1, RSTART - 1) all substr($0, RSTART + RLENGTH)
}
/@names@/ {
	for (i = 1; i <= n; i++)
		if (is_property(i))
			names = names (names == "" ? "" : " ") name[i]
	sub(/@names@/, names)
}
{
	print
}
