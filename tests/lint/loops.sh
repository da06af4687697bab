#!/bin/sh
# The programs of swansong-event-loops(7) stop and end, with each event loop that is installed.
. "${0%/*}/lib.sh"
hold_libraries -s
: "${CC:=cc}"
libs=$top_builddir/src/swansong/.libs
if has_sanitizer; then
	echo "1..0 # SKIP machine: a program from outside has no sanitizer"
	exit 0
fi

awk -v dir="$dir" '
	/^\.Bd -literal/ { file = dir "/" ++n }
	/^\.Ed/ { file = "" }
	file != "" && !/^\./ { gsub(/\\e/, "\\"); print >file }' "$top_srcdir/man/swansong-event-loops.7"

compile() { # FILE [LIBRARY...]
	source=$1
	shift
	flags=$([ $# = 0 ] || pkg-config --cflags --libs "$@")
	# shellcheck disable=SC2086  # words
	$CC -std=gnu17 -Wall -Wextra -Wno-unused-parameter -Werror -I"$top_srcdir/src" -x c "$source" -x none \
		-o "$dir/program" $flags -L"$libs" -lswansong
}

run() { # COMMAND...: sets $status, which is 77 if the machine lacks something
	status=0
	LD_LIBRARY_PATH=$libs timeout 60 "$@" >"$dir/printed" 2>&1 || status=$?
}

printed_both() {
	cat "$dir/printed"
	[ "$status" = 0 ] && [ "$(cat "$dir/printed")" = "stopped
complete" ]
}

for block in "$dir"/[0-9]*; do
	read -r first <"$block"
	case $first in
	"# asyncio")
		run env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$top_srcdir/contrib/python" python3 "$block"
		try "asyncio: stops, and then is complete" printed_both
		continue
		;;
	"// tokio") continue ;; # tests/lint/rust.sh
	esac
	name=${first#/\* } name=${name%%:*}
	libraries=${first#*libswansong} libraries=${libraries%\*/}
	# shellcheck disable=SC2086  # words
	if [ -n "${libraries% }" ] && ! pkg-config --exists $libraries; then
		skip "$name: stops, and then is complete" "package of$libraries"
		continue
	fi
	# shellcheck disable=SC2086
	try "$name: the program is compiled" compile "$block" $libraries
	run "$dir/program"
	if [ "$status" = 77 ]; then
		skip "$name: stops, and then is complete" "machine: no $name"
	else
		try "$name: stops, and then is complete" printed_both
	fi
done
finish
