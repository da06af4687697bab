#!/bin/bash
# The picture of a shutdown.
. "${0%/*}/lib.sh"
requires_package python3 python3

# Its results are the test's.
rm -rf "$dir"
SWANSONGCTL=$(realpath "$swansongctl") PYTHONDONTWRITEBYTECODE=1 exec python3 "$top_srcdir/tests/helpers/test-plot.py"
