# Each text file as a constant of C: index.html is page_index_html.
FNR == 1 {
	name = FILENAME
	sub(/.*\//, "", name)
	gsub(/[^A-Za-z0-9]/, "_", name)
	printf "%sstatic const char page_%s[] =", NR == 1 ? "" : ";\n", name
}
{
	gsub(/[\\"]/, "\\\\&")
	printf "\n\t\"%s\\n\"", $0
}
END { print ";" }
