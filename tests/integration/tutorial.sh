#!/bin/bash
# The tutorial of the site (contrib/site/tutorial.html): each step works as it is printed, with the output that is shown, as
# any user and from the build folder.  It ends with a shutdown that waits for an order.
. "${0%/*}/lib.sh"
requires_package python3 python3
export LC_ALL=C.UTF-8
unset SWANSONG_LOGGER SWANSONG_SOCKET SWANSONG_SUPPORT_DUMP SWANSONG_PLOT

export HOME=$dir/home
mkdir "$HOME" "$HOME/swansong"
ln -s "$(realpath "$top_builddir")" "$HOME/swansong/build"
ln -s "$(realpath "$top_srcdir")/contrib" "$HOME/swansong/contrib"
while IFS= read -r line; do
	case $line in
	"ok "*) result 0 "${line#ok }" ;;
	"not ok "*) result 1 "${line#not ok }" ;;
	*) echo "$line" ;;
	esac
done < <(timeout 300 python3 "$top_srcdir/tests/helpers/tutorial.py" "$top_srcdir/contrib/site/tutorial.html" 2>&1)
is "all steps are done" "$n_tests" "$(grep -c '<h2>' "$top_srcdir/contrib/site/tutorial.html")"
ok "its daemon has ended" wait_for 10 nobody_else
finish
