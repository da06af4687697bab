#!/bin/sh
# The examples in section 3 of the manual compile, without a warning, and run to the end of a shutdown: whole functions
# as they are, and statements in a function, with the objects that they presume (snippets.c).  Those of
# swansong-guard(7) in JSON, in Python and for a shell are parsed; tests/integration/manual-guards.sh runs them.
. "${0%/*}/lib.sh"
: "${CC:=cc}"

cat >"$dir/presumed.h" <<'END'
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <swansong/swansong.h>
#include <swansong/loop.h>
#include <swansong/pool.h>
#include <swansong/attach.h>

struct request;
struct server { struct swansong *node; };
extern struct swansong *root, *node, *server, *connections, *soft, *hard;
extern struct swansong_interrupt *stop;
extern struct swansong_loop *loop;
extern struct swansong_pool *pool;
extern struct swansong_registry *registry;
extern struct swansong_report *report;
extern char *data, *text;
extern int fd, r;
extern size_t size;
extern ssize_t n;
extern uint64_t deadline;
extern void *db;
int close_database(void *arg);
void serve(struct swansong *node);
void work(void);
void answer(const void *to, ...);
END

# Statements, between functions and declarations with an initializer, become one function.
awk -v dir="$dir" '
	FNR == 1 { in_block = 0 }
	/^\.Bd -literal/ { in_block = 1; page = FILENAME; sub(/.*\//, "", page); file = dir "/" page "-" ++n ".c"
		print "#include \"presumed.h\"" >file; statements = ""; next }
	/^\.Ed/ && in_block { in_block = in_function = 0
		if (statements != "") printf "int example(void)\n{\n%sreturn 0;\n}\n", statements >file
		close(file); next }
	!in_block { next }
	{ gsub(/\\e/, "\\") }
	/^#include/ { print >file; next }
	/^(static |void |int ).*\)$/ { in_function = 1 }
	in_function { print >file; if (/^}/) in_function = 0; next }
	{ statements = statements $0 "\n" }
' "${top_srcdir:?}"/man/*.3

compile() { # FILE
	$CC -std=gnu17 -Wall -Wextra -Werror -Wno-unused -I "$dir" -I "$top_srcdir/src" -c -o "$dir/$(basename "$1" .c).o" "$1"
}
runs() { # OBJECT...
	"${top_builddir:?}/libtool" --silent --mode=link "$CC" -o "$dir/example" "$@" \
		"$top_builddir/src/swansong/libswansong-loop.la" "$top_builddir/src/swansong/libswansong.la" -pthread &&
		timeout -s KILL 30 "$dir/example"
}

hold_libraries -s
try "what they presume" compile "$top_srcdir/tests/lint/snippets.c"
for file in "$dir"/*.3-*.c; do
	presumed=$dir/snippets.o
	# A whole program needs no declarations.
	! grep -q '^int main' "$file" || { sed -i 1d "$file" && presumed=; }
	name=${file##*/}
	try "$name" compile "$file"
	# shellcheck disable=SC2086  # none or one
	[ ! -e "${file%.c}.o" ] || try "$name runs" runs "${file%.c}.o" $presumed
done

awk -v dir="$dir" '
	/^\.Bd -literal/ { file = dir "/guard-" ++n; next }
	/^\.Ed/ { file = "" }
	file != "" { gsub(/\\&/, ""); print >file }
' "$top_srcdir/man/swansong-guard.7"
for file in "$dir"/guard-*; do
	case $(head -n 1 "$file") in
	"{"*) try "JSON: $(head -n 1 "$file")" jq . "$file" ;;
	". "*) try "a shell: $(head -n 1 "$file")" sh -n "$file" ;;
	*) try "Python: $(head -n 1 "$file")" python3 -c "compile(open('$file').read(), '', 'exec')" ;;
	esac
done
finish
