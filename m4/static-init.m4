# --enable-static-init: swansong-init once more, static, by a compiler of its own choice, since glibc's
# static programs are ten times the size of musl's.
AC_DEFUN([AX_SWANSONG_STATIC_INIT], [
AC_ARG_ENABLE([static-init],
	AS_HELP_STRING([--enable-static-init], [build swansong-init-static as well, by STATIC_CC]))
AC_ARG_VAR([STATIC_CC], [compiler for swansong-init-static, e.g. musl-gcc])
AC_ARG_VAR([STATIC_CFLAGS], [its flags])
: "${STATIC_CC=$CC}"
: "${STATIC_CFLAGS=-O2}"
AM_CONDITIONAL([STATIC_INIT], [test "x$enable_static_init" = xyes])
])
