# SWANSONG_CFLAG(VARIABLE, FLAG): append FLAG to VARIABLE if the compiler takes it without a word.
AC_DEFUN([SWANSONG_CFLAG], [
	AS_VAR_PUSHDEF([cache], [swansong_cv_cflag_$2])
	AC_CACHE_CHECK([whether $CC takes $2], [cache], [
		swansong_save_CFLAGS=$CFLAGS
		CFLAGS="$CFLAGS -Werror $2"
		AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
			[AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
		CFLAGS=$swansong_save_CFLAGS])
	AS_VAR_IF([cache], [yes], [$1="$$1 $2"])
	AS_VAR_POPDEF([cache])])

# SWANSONG_LDFLAG(VARIABLE, FLAG): the same for the linker.
AC_DEFUN([SWANSONG_LDFLAG], [
	AS_VAR_PUSHDEF([cache], [swansong_cv_ldflag_$2])
	AC_CACHE_CHECK([whether the linker takes $2], [cache], [
		swansong_save_LDFLAGS=$LDFLAGS
		LDFLAGS="$LDFLAGS -Werror $2"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
			[AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
		LDFLAGS=$swansong_save_LDFLAGS])
	AS_VAR_IF([cache], [yes], [$1="$$1 $2"])
	AS_VAR_POPDEF([cache])])
