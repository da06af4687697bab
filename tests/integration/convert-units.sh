#!/bin/bash
# The units of packages, as they come from Debian, are configurations of swansongd when they are converted.
#
#	tests/integration/convert-units.sh FOLDER
#
# FOLDER, or $SWANSONG_UNITS, has a folder for each package, with what is in it: `apt-get download NAME` and
# `dpkg-deb -x FILE FOLDER/NAME`.  Nothing is installed: their users and their files below /etc exist in the
# world of this story only.
units=$(realpath "${1:-${SWANSONG_UNITS:-/nonexistent}}" 2>/dev/null)
. "${0%/*}/lib.sh"
requires_package python3 python3
[ -d "$units" ] || skip_all "machine: no folder with the units of packages (SWANSONG_UNITS)"
export PYTHONDONTWRITEBYTECODE=1
program=("$(command -v python3)" "$top_srcdir/tests/helpers/convert-units.py")

mkdir -p "$dir/etc"
for package in "$units"/*; do
	[ ! -d "$package/etc" ] || cp -R "$package/etc/." "$dir/etc/"
done
cp /etc/passwd /etc/group "$dir/etc/"
id=30000
while read -r name; do
	id=$((id + 1))
	grep -q "^$name:" /etc/passwd || echo "$name:x:$id:$id::/nonexistent:/usr/sbin/nologin" >>"$dir/etc/passwd"
	grep -q "^$name:" /etc/group || echo "$name:x:$id:" >>"$dir/etc/group"
done < <("${program[@]}" --names "$units")
chmod -R go-w "$dir/etc"
mount -t overlay -o "lowerdir=$dir/etc:/etc" overlay /etc 2>/dev/null || skip_all "machine: cannot mount an overlay"

"${program[@]}" "$(realpath "$top_srcdir")/contrib/convert/swansong-convert" "$swansongctl" "$units" >"$dir/table" 2>&1
status=$?
comment <"$dir/table"
is "each unit ends with a result that swansongctl accepts" "$status" 0
ok "there were units" grep -Eq '^units [1-9]' "$dir/table"
finish
