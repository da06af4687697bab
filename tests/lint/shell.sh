#!/bin/sh
# Every shell script passes shellcheck.
. "${0%/*}/lib.sh"
command -v shellcheck >/dev/null || {
	echo "1..0 # SKIP package shellcheck"
	exit 0
}
cd "${top_srcdir:?}" || exit
scripts=
for script in autogen.sh bootstrap .ci/* conf/*.sh contrib/container/mkrootfs contrib/pacemaker/swansong.in \
	contrib/packaging/debian/*.p* contrib/packaging/debian/tests/[lsu]* \
	tests/*/*.sh tests/integration/with-* tests/integration/convert/tell; do
	[ ! -e "$script" ] || scripts="$scripts $script" # .ci is not in a tarball
done
# shellcheck disable=SC2086  # a list of words
try "shellcheck" shellcheck $scripts
finish
