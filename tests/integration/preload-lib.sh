# shellcheck shell=bash
# A daemon that gets no memory, or that hangs: tests/helpers/preload.c.  After lib.sh.
faults=$dir/faults
mkdir "$faults"
lack=
if grep -qs '^SANITIZE_CFLAGS = .' "$top_builddir/Makefile"; then
	lack="machine: a sanitizer has an allocator of its own"
elif ! ${CC:-cc} -shared -fPIC -O1 -o "$dir/preload.so" "$top_srcdir/tests/helpers/preload.c"; then
	lack="machine: no shared library of tests/helpers/preload.c"
fi
# Not empty: why the library cannot be preloaded.
: "$lack"

start_preloaded() { # [OPTION...]
	launch env LD_PRELOAD="$dir/preload.so" PRELOAD_FAULTS="$faults" \
		"$swansongd" -v -c "$ini" --socket "$socket" "$@"
	wait_for 10 ctl_answers || die "swansongd answers"
}
