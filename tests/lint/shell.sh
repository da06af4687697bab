#!/bin/sh
# Every shell script of ours passes shellcheck.
. "${0%/*}/lib.sh"
command -v shellcheck >/dev/null || {
	echo "1..0 # SKIP package shellcheck"
	exit 0
}
cd "${top_srcdir:?}"
for script in autogen.sh bootstrap .ci/run conf/*.sh contrib/container/mkrootfs \
	tests/*/*.sh tests/integration/with-* tests/integration/convert/tell; do
	[ -e "$script" ] || continue # .ci is not in a tarball
	try "$script" shellcheck "$script"
done
finish
