#!/bin/sh
# Every public header compiles alone, and all of them in use, as C99, C11 and C++17.
. "${0%/*}/lib.sh"
use=$dir/use

# A use of every macro and inline function with an effect on the compiler.
cat >"$use" <<'END'
#include <swansong/swansong.h>
void use(struct swansong *s, struct swansong_loop *l, struct swansong_pool *p);
static void called(void *arg) { (void)arg; }
static void told(void *arg, int result) { (void)arg; (void)result; }
void use(struct swansong *s, struct swansong_loop *l, struct swansong_pool *p)
{
	SWANSONG_GUARD_SCOPE(s);
	SWANSONG_GUARD_SCOPE(swansong_loop_node(l));
	struct swansong_offload o = { called, told, called, 0 };
	struct swansong_guard g = swansong_guard(s), h = swansong_guard_clone(&g);
	struct swansong_guarded guarded = swansong_guarded(s, s, called);
	struct swansong_interrupt *i = 0;
	if (swansong_interrupt_new_guarded(s, &i) == 0)
		swansong_interrupt_unrefp(&i);
	if (swansong_loop_post(l, called, s) < 0 || swansong_pool_submit(p, called, s) < 0 ||
	    swansong_pool_offload(p, l, &o, UINT64_MAX) < 0)
		return;
	swansong_guard_drop(&g);
	swansong_guard_drop(&h);
	(void)swansong_guarded_take(&guarded);
	swansong_guarded_drop(&guarded);
}
END

check() { # FILE COMPILER ARGUMENT...
	f=$1
	shift
	try "$name: $*" "$@" -Wall -Wextra -Werror -I"$top_srcdir/src" -fsyntax-only "$f"
}
for h in "$top_srcdir"/src/swansong/*.h "$use"; do
	case $h in *-private.h) continue ;; esac
	name=${h##*/}
	[ "$h" = "$use" ] && name="all in use"
	# shellcheck disable=SC2086  # it may have arguments
	check "$h" ${CC:-cc} -std=c99 -pedantic -x c
	# shellcheck disable=SC2086
	check "$h" ${CC:-cc} -std=c11 -pedantic -x c
	if command -v c++ >/dev/null; then
		check "$h" c++ -std=c++17 -pedantic -x c++
	else
		skip "$name" "package g++"
	fi
done
finish
