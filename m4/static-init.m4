# --enable-static-init: swansong-init once more, static, by a compiler of its own choice, since glibc's
# static programs are ten times the size of musl's.
AC_DEFUN([AX_SWANSONG_STATIC_INIT], [
AC_ARG_ENABLE([static-init],
	AS_HELP_STRING([--enable-static-init], [build swansong-init-static as well, by STATIC_CC]))
AC_ARG_VAR([STATIC_CC], [compiler for swansong-init-static, e.g. musl-gcc])
AC_ARG_VAR([STATIC_CFLAGS], [its flags])
: "${STATIC_CC=$CC}"
: "${STATIC_CFLAGS=-O2}"
# A wrapper such as musl-gcc looks for no other headers than its C library; those of the kernel do for all.
STATIC_CPPFLAGS=
AS_VAR_IF([enable_static_init], [yes], [
	swansong_save_CC=$CC
	CC=$STATIC_CC
	AC_MSG_CHECKING([for the headers of the kernel with $STATIC_CC])
	AC_COMPILE_IFELSE([AC_LANG_SOURCE([[#include <linux/capability.h>]])],
		[AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		STATIC_CPPFLAGS="-idirafter /usr/include -idirafter /usr/include/$($swansong_save_CC -print-multiarch 2>/dev/null)"])
	CC=$swansong_save_CC])
AC_SUBST([STATIC_CPPFLAGS])
AM_CONDITIONAL([STATIC_INIT], [test "x$enable_static_init" = xyes])
])
