#!/bin/sh
# Inside a folder a file may include only headers listed before it in local.mk:
# the order of _SOURCES is the order of the layers, bottom first.
set -eu
cd "$top_srcdir"
echo 1..1
bad=0
for mk in src/*/local.mk; do
	dir=$(basename "$(dirname "$mk")")
	rank=" $(grep -o '%D%/[a-z0-9-]*\.[ch]' "$mk" | sed 's/.*\///' |
		awk '!seen[$0]++' | tr '\n' ' ') "
	for f in src/"$dir"/*.[ch]; do
		me=$(basename "$f")
		case $rank in
		*" $me "*) ;;
		*) echo "# $f is not listed in $mk"; bad=1 ;;
		esac
		for dep in $(sed -n "s|^#include \"$dir/\([a-z0-9-]*\.h\)\".*|\1|p" "$f"); do
			case " ${rank%%" $me "*} " in
			*" $dep "*) ;;
			*) echo "# $f includes $dep, which comes after it in $mk"; bad=1 ;;
			esac
		done
	done
done
[ $bad = 0 ] && echo "ok 1 - files follow their folder's order" || echo "not ok 1 - files follow their folder's order"
