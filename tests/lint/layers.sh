#!/bin/sh
# Every #include "LAYER/..." in src must be an edge of this list: the layering rule, written once.
set -eu
allowed='
base:base
swansong:swansong swansong:base
sys:sys sys:base
init:init init:sys init:base
model:model model:base
proto:proto proto:base
daemon:daemon daemon:proto daemon:model daemon:sys daemon:swansong daemon:base
ctl:ctl ctl:proto ctl:model ctl:sys ctl:base
'
allowed=" $(echo "$allowed" | tr '\n' ' ') "
cd "$top_srcdir/src"
echo 1..1
bad=0
for f in $(find . -name '*.[ch]' | sort); do
	from=$(echo "$f" | cut -d/ -f2)
	for to in $(sed -n 's/^#include "\([a-z]*\)\/.*/\1/p' "$f" | sort -u); do
		case $allowed in
		*" $from:$to "*) ;;
		*) echo "# $f: $from may not include $to/"; bad=1 ;;
		esac
	done
	if grep -q '^#include "[^/]*"' "$f"; then
		echo "# $f: an include of our own names its layer"; bad=1
	fi
done
[ $bad = 0 ] && echo "ok 1 - includes follow the layers" || echo "not ok 1 - includes follow the layers"
