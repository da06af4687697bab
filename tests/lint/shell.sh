#!/bin/sh
# Every shell script passes shellcheck, memory is measured exactly, and bootstrap installs each package without which
# a test is a skip.
. "${0%/*}/lib.sh"
# A script is read anew when it has changed since it passed: all of them take 18 s.
is_unchanged "${top_srcdir:?}/.shellcheckrc" "$(command -v shellcheck)" || rm -f "$good"
cd "$top_srcdir" || exit

sed -n "/^build_packages='/,/'\$/p; /^check_packages[a-z_]*='/,/'\$/p" bootstrap |
	sed "s/.*='//; s/'//" | tr -s ' \t' '\n' | sort -u >"$dir/installed"
# The first are in every Debian, or come with gcc; the last is for machines with a daemon of its own.
printf '%s\n' bash binutils docker.io >>"$dir/installed"
cat tests/*/*.sh tests/*/*.py tests/*/*/*.c | sed -n 's/.*requires_package [^ ]* \([a-z0-9][^ ;|)]*\).*/\1/p
	s/.*["# (]SKIP package \([a-z0-9][-+.a-z0-9]*\).*/\1/p
	s/.*"package \([a-z0-9][-+.a-z0-9]*\)".*/\1/p' | sort -u >"$dir/named"
sort -u "$dir/installed" | comm -13 - "$dir/named" >"$dir/forgotten"
try "packages are named" test -s "$dir/named"
try "and bootstrap installs them" is_empty "$dir/forgotten"

grep -rnE 'VmRSS|VmHWM|/statm' tests --include='*.sh' --include='*.py' --include='*.c' --exclude=shell.sh \
	--exclude=lib.sh >"$dir/inexact" || :
try "resident memory is read from smaps_rollup" is_empty "$dir/inexact"

command -v shellcheck >/dev/null || {
	skip "shellcheck" "package shellcheck"
	finish
	exit
}
is_good() { # SCRIPT
	[ -e "$good" ] && [ -z "$(find "$1" -cnewer "$good")" ]
}
scripts=
for script in autogen.sh bootstrap .ci/* conf/*.sh contrib/container/mkrootfs contrib/pacemaker/swansong.in \
	contrib/packaging/debian/*.p* contrib/packaging/debian/tests/[lsu]* \
	tests/*/*.sh tests/integration/with-* tests/integration/convert/tell; do
	# .ci is not in a tarball.
	[ ! -e "$script" ] || is_good "$script" || scripts="$scripts $script"
done
# shellcheck disable=SC2086  # a list of words
passes() {
	[ -z "$scripts" ] || shellcheck $scripts
}
try "shellcheck" passes
passed
finish
