# Everything speaks TAP.  Exit 77 or "1..0 # SKIP reason" is a skip, never a pass.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_EXTENSIONS = .sh
SH_LOG_DRIVER = $(LOG_DRIVER)
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	sysconfdir='$(sysconfdir)'; export sysconfdir; \
	CC='$(CC)'; export CC;

TESTS += $(check_PROGRAMS) $(dist_check_SCRIPTS)

# The tests that are programs, without the scripts: for a build with a sanitizer.
.PHONY: check-programs
check-programs:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(check_PROGRAMS)'

include tests/lint/local.mk
include tests/unit/local.mk
include tests/stress/local.mk
include tests/helpers/local.mk
include tests/integration/local.mk
include tests/bench/local.mk
