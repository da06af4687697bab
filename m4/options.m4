# The options of configure, and the flags that follow from them.
AC_DEFUN([AX_SWANSONG_OPTIONS], [
AC_ARG_ENABLE([werror], AS_HELP_STRING([--enable-werror], [treat warnings as errors]))
AC_ARG_ENABLE([debug],
	AS_HELP_STRING([--enable-debug], [catch wrong use of libswansong; slower, and memory of nodes stays]))
AM_CONDITIONAL([DEBUG], [test "x$enable_debug" = xyes])
AC_ARG_ENABLE([sanitize],
	AS_HELP_STRING([--enable-sanitize=KIND], [build with a sanitizer: address, thread, undefined, or address,undefined]),,
	[enable_sanitize=no])
AC_ARG_ENABLE([fuzzing],
	AS_HELP_STRING([--enable-fuzzing], [build tests/fuzz with libFuzzer and sanitizers; needs clang]))
AM_CONDITIONAL([FUZZING], [test "x$enable_fuzzing" = xyes])
AS_VAR_IF([enable_fuzzing], [yes], [enable_sanitize=fuzzing])

# Each flag alone: what one compiler lacks is no reason to lose the others.
WARN_CFLAGS="-std=gnu17"
m4_foreach_w([flag], [-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
	-Walloca -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings -Wimplicit-fallthrough
	-Wcast-align -Wno-unused-parameter -Wno-missing-field-initializers], [SWANSONG_CFLAG([WARN_CFLAGS], flag)])
# gcc 13 and later take the head of a list on the stack for dangling, though it is empty by the return.
SWANSONG_CFLAG([WARN_CFLAGS], [-Wno-dangling-pointer])
# It sees the checks that a sanitizer adds, and takes them for ours.
AS_VAR_IF([enable_sanitize], [no], [SWANSONG_CFLAG([WARN_CFLAGS], [-Wnull-dereference])])
AS_VAR_IF([enable_werror], [yes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
AC_SUBST([WARN_CFLAGS])

HARDEN_CFLAGS=
HARDEN_LDFLAGS=
SANITIZE_CFLAGS=
FUZZ_LDFLAGS=
AS_CASE([$enable_sanitize],
	[no], [
		m4_foreach_w([flag], [-fstack-protector-strong -fstack-clash-protection
			-fcf-protection=full -fno-strict-aliasing -fno-strict-overflow
			-fno-delete-null-pointer-checks -ftrivial-auto-var-init=zero],
			[SWANSONG_CFLAG([HARDEN_CFLAGS], flag)])
		# Not at -O0, where glibc's headers complain about it.
		AS_CASE([" $CFLAGS "], [*" -O0 "*], [],
			[SWANSONG_CFLAG([HARDEN_CFLAGS], [-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3])])
		m4_foreach_w([flag], [-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
			-Wl,-z,separate-code -Wl,--as-needed],
			[SWANSONG_LDFLAG([HARDEN_LDFLAGS], m4_defn([flag]))])],
	[address|thread|undefined|address,undefined], [
		SANITIZE_CFLAGS="-fsanitize=$enable_sanitize -fno-omit-frame-pointer -fno-sanitize-recover=all"
		# The thread sanitizer takes clone() for a fork, whatever is shared; not its other name.
		AS_VAR_IF([enable_sanitize], [thread],
			[SANITIZE_CFLAGS="$SANITIZE_CFLAGS -Dclone=__clone"])
		SWANSONG_LDFLAG([HARDEN_LDFLAGS], [-fsanitize=$enable_sanitize])],
	[fuzzing], [
		SANITIZE_CFLAGS="-fsanitize=address,undefined,fuzzer-no-link -fno-omit-frame-pointer"
		SANITIZE_CFLAGS="$SANITIZE_CFLAGS -fno-sanitize-recover=all"
		HARDEN_LDFLAGS="-fsanitize=address -fsanitize=undefined"
		FUZZ_LDFLAGS=-fsanitize=fuzzer
		swansong_save_LDFLAGS=$LDFLAGS
		LDFLAGS="$LDFLAGS $FUZZ_LDFLAGS"
		AC_LINK_IFELSE([AC_LANG_SOURCE([int LLVMFuzzerTestOneInput(void) { return 0; }])], [],
			[AC_MSG_ERROR([--enable-fuzzing needs clang and its libFuzzer])])
		LDFLAGS=$swansong_save_LDFLAGS],
	[AC_MSG_ERROR([--enable-sanitize takes address, thread, undefined or address,undefined, not '$enable_sanitize'])])
AM_CONDITIONAL([SANITIZED], [test "x$enable_sanitize" != xno])
AC_SUBST([HARDEN_CFLAGS])
AC_SUBST([HARDEN_LDFLAGS])
AC_SUBST([SANITIZE_CFLAGS])
AC_SUBST([FUZZ_LDFLAGS])

# Programs are position independent executables; libtool passes -pie through for the programs only.
PROGRAM_CFLAGS=
PROGRAM_LDFLAGS=
SWANSONG_CFLAG([PROGRAM_CFLAGS], [-fPIE])
SWANSONG_LDFLAG([PROGRAM_LDFLAGS], [-pie])
# What a program does not call of a layer is not in it, nor in its memory.
SECTION_CFLAGS=
AS_VAR_IF([enable_sanitize], [no], [
	m4_foreach_w([flag], [-ffunction-sections -fdata-sections],
		[SWANSONG_CFLAG([SECTION_CFLAGS], flag)])
	SWANSONG_LDFLAG([PROGRAM_LDFLAGS], [-Wl,--gc-sections])])
AC_SUBST([SECTION_CFLAGS])
AC_SUBST([PROGRAM_CFLAGS])
AC_SUBST([PROGRAM_LDFLAGS])
])
