#!/bin/sh
# The programs of swansong-event-loops(7) stop and end, with each event loop that is installed.
. "${0%/*}/lib.sh"
hold_libraries -s
: "${CC:=cc}"
libs=$top_builddir/src/swansong/.libs
if grep -q -e __asan_init -e __tsan_init -e __ubsan_handle "$libs/libswansong.so"; then
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

runs() { # COMMAND...: it prints both lines; 77 if the machine lacks something
	status=0
	LD_LIBRARY_PATH=$libs timeout 60 "$@" >"$dir/printed" 2>&1 || status=$?
	[ "$status" != 77 ] || { lacks=1 && return; }
	cat "$dir/printed"
	[ "$status" = 0 ] && [ "$(cat "$dir/printed")" = "stopped
complete" ]
}

for block in "$dir"/[0-9]*; do
	read -r first <"$block"
	case $first in
	"# asyncio")
		try "asyncio: stops, and then is complete" runs env \
			PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$top_srcdir/contrib/python" python3 "$block"
		continue
		;;
	esac
	name=${first#/\* } name=${name%%:*}
	libraries=${first#*libswansong} libraries=${libraries%\*/} lacks=0
	# shellcheck disable=SC2086  # words
	if [ -n "${libraries% }" ] && ! pkg-config --exists $libraries; then
		skip "$name: stops, and then is complete" "package of$libraries"
		continue
	fi
	# shellcheck disable=SC2086
	try "$name: the program is compiled" compile "$block" $libraries
	try "$name: stops, and then is complete" runs "$dir/program"
	[ "$lacks" = 0 ] || skip "$name" "machine: no io_uring"
done
finish
