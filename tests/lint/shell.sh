#!/bin/sh
# Every shell script of ours passes shellcheck.
set -eu
command -v shellcheck >/dev/null || {
	echo "1..0 # SKIP package shellcheck"
	exit 0
}
cd "${top_srcdir:?}"
n=0
for script in autogen.sh bootstrap .ci/run conf/*.sh contrib/container/mkrootfs \
	tests/*/*.sh tests/integration/with-* tests/integration/convert/tell; do
	[ -e "$script" ] || continue # .ci is not in a tarball
	n=$((n + 1))
	if shellcheck "$script" | sed 's/^/# /' | grep .; then
		echo "not ok $n - $script"
	else
		echo "ok $n - $script"
	fi
done
echo "1..$n"
