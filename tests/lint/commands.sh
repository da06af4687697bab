#!/bin/sh
# Every command and option of swansongctl's tables is in its manual page, each command with an example
# (tests/integration/manual.sh executes these), and the page is clean mdoc.
. "${0%/*}/lib.sh"
page=${top_srcdir:?}/man/swansongctl.1
source=$top_srcdir/src/ctl
# The first string of each row of the tables.
commands=$(sed -n '/^static const struct command table/,/^};/s/^\t{ "\([a-z-]*\)".*/\1/p' "$source/program/commands.c")
options=$(sed -n '/^static const struct option_row table/,/^};/s/^\tROW("\([a-z-]*\)".*/\1/p' "$source/session/options.c")
try "the tables are found" test -n "$commands" -a -n "$options"
for command in $commands; do
	try "$command is in the manual" grep -q "^\.It Cm $command\b" "$page"
	try "$command has an example" grep -q "^\.Dl \$ swansongctl $command\b" "$page"
done
for option in $options; do
	try "--$option is in the manual" grep -q "^\.It Fl .*-$option\b" "$page"
done
help() { "${top_builddir:?}/swansongctl" help "$@"; }
grep_help() { pattern=$1; shift; help "$@" | grep -q -- "$pattern"; }
try "the help lists the commands of an option" grep_help '--undo .*(rollout)$'
try "the help of a command lists its options without them" grep_help '--undo .*rollout$' rollout
if command -v mandoc >/dev/null; then
	try "the manual is clean" mandoc -Tlint -Wwarning "$page"
else
	skip "the manual is clean" "package mandoc"
fi
finish
