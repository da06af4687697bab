#!/bin/sh
# Every command and option of swansongctl's tables is in its manual page, which is clean mdoc.
set -eu
page=${top_srcdir:?}/man/swansongctl.1
source=$top_srcdir/src/ctl
n=0
check() { # WHAT COMMAND...
	n=$((n + 1))
	what=$1
	shift
	if "$@"; then echo "ok $n - $what"; else echo "not ok $n - $what"; fi
}
# The first string of each row of the tables.
commands=$(sed -n '/^static const struct command table/,/^};/s/^\t{ "\([a-z-]*\)".*/\1/p' "$source/commands.c")
options=$(sed -n '/^static const struct option_row table/,/^};/s/^\t{ "\([a-z-]*\)".*/\1/p' "$source/options.c")
check "the tables are found" test -n "$commands" -a -n "$options"
for command in $commands; do
	check "$command is in the manual" grep -q "^\.It Cm $command\b" "$page"
done
for option in $options; do
	check "--$option is in the manual" grep -q "^\.It Fl .*-$option\b" "$page"
done
if command -v mandoc >/dev/null; then
	check "the manual is clean" mandoc -Tlint -Wwarning "$page"
else
	n=$((n + 1))
	echo "ok $n - the manual is clean # SKIP package mandoc"
fi
echo "1..$n"
