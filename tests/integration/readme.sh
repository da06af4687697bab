#!/bin/bash
# The tour of README.md works from the build folder, without an installation, and shows what is printed there:
# all commands run on one terminal.
. "${0%/*}/lib.sh"
requires_package python3 python3
unset SWANSONG_LOGGER SWANSONG_SOCKET SWANSONG_PLOT

# The sources.
mkdir -p "$dir/sources/conf"
ln -s "$(realpath "$top_builddir")" "$dir/sources/build"
cp "$top_srcdir/conf/tour.ini" "$dir/sources/conf"

# The lines between two lines that are indented by four.
indented() { # FIRST LAST
	sed -n "/^$1/,/^$2/s/^    //p" "$top_srcdir/README.md"
}
indented '## A tour' '!\[' >"$dir/tour"
indented 'A shutdown on a terminal' '## A tour' | cut -c 1-60 >"$dir/picture"
# A person types the shutdown when the guard is held.
sed -n 's/^\$ //p' "$dir/tour" |
	sed '/^swansongctl shutdown/i timeout 20 bash -c "until swansongctl guards | grep -q order; do :; done"' \
		>"$dir/commands"

# A line is expected with other numbers and times.
{
	echo "size 24 100"
	sed '/^\$ swansongctl shutdown/r '"$dir/picture" "$dir/tour" | grep -v '^\$ ' |
		sed -E 's/[][().+*?|]/\\&/g; s/([0-9]+min )?([0-9]+\\.)?[0-9]+m?s/([0-9]+min )?[0-9.]+m?s/g
			s/pid [0-9]*/pid [0-9]*/; s/ +/ +/g; s/^/expect /'
	echo "end 0"
} >"$dir/steps"

ok "the tour of README.md has the output that is printed there" env -C "$dir/sources" \
	NO_COLOR=1 TERM=xterm TMPDIR="$dir" python3 "$(realpath "$top_srcdir")/tests/helpers/terminal.py" bash "$dir/commands" <"$dir/steps"
ok "its daemon has ended" wait_for 10 nobody_else
finish
