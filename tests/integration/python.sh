#!/bin/bash
# The Python module beside a fake daemon that reports every message.
. "${0%/*}/lib.sh"
requires_package python3 python3
[ "$(python3 -c 'import sys; print(sys.version_info >= (3, 9))')" = True ] ||
	skip_all "package python3 of 3.9 or later"

# Its results are the test's.
rm -rf "$dir"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$top_srcdir/contrib/python \
	exec python3 "$top_srcdir/tests/helpers/test-swansong.py"
