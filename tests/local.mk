# Everything speaks TAP.  Exit 77 or "1..0 # SKIP reason" is a skip, never a pass.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_EXTENSIONS = .sh
SH_LOG_DRIVER = $(LOG_DRIVER)
# A deadline of a unit test is there to end what hangs, and not what a busy machine makes wait.
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	sysconfdir='$(sysconfdir)'; export sysconfdir; \
	pkglibexecdir='$(pkglibexecdir)'; export pkglibexecdir; \
	CC='$(CC)'; export CC; \
	: "$${CK_TIMEOUT_MULTIPLIER:=4}"; export CK_TIMEOUT_MULTIPLIER;

TESTS += $(check_PROGRAMS) $(dist_check_SCRIPTS)

# For daily work, about a minute.
.PHONY: check-fast
check-fast:
	$(MAKE) $(AM_MAKEFLAGS) check-units more='$(fast_stories)'

# The lints take longest, and so begin first.
.PHONY: check-units
check-units:
	$(MAKE) $(AM_MAKEFLAGS) check \
		TESTS="$(lints) `echo $(check_PROGRAMS) | tr ' ' '\n' | grep -E '^tests/(unit|fuzz|sim)/'` $$more"

# For builds with a sanitizer: address and undefined behaviour of all that one thread does, and, as only
# libswansong has threads, the thread sanitizer for that.
# Nothing else is built than what they are made of.  The attacks are made on the whole programs as well.
run_programs = \
	logs=`echo $(check_PROGRAMS) | tr ' ' '\n' | sed -n "s|^$$folder/.*|&.log|p"`; \
	logs=`echo $$more $$logs`; \
	rm -f $$logs; \
	$(MAKE) $(AM_MAKEFLAGS) $(TEST_SUITE_LOG) TEST_LOGS="$$logs"

# The tests of $(TESTS): a unit test needs its own program, a lint or a story everything but these; see
# GNUmakefile.in.
.PHONY: check-only
check-only:
	+@case '$(TESTS:=) ' in *'.sh '*) \
		$(MAKE) $(AM_MAKEFLAGS) all-am $(check_DATA) $(check_LTLIBRARIES) || exit ;; \
	esac; \
	logs=`for test in $(TESTS:=); do echo $${test%.sh}.log; done`; logs=`echo $$logs`; \
	rm -f $$logs; \
	$(MAKE) $(AM_MAKEFLAGS) $(TEST_SUITE_LOG) TEST_LOGS="$$logs"

# For builds of packages: no test needs root, a network or a package but check.
.PHONY: check-unit
check-unit:
	+@folder=tests/unit; $(run_programs)

.PHONY: check-address check-thread check-stepped
check-stepped:
	+@more='$(stepped_programs:=.log)' folder=none; $(run_programs)
check-address: all $(helpers)
	+@folder=tests/unit; more='$(stepped_programs:=.log) $(fuzz_programs:=.log) $(attack_stories:.sh=.log)'; $(run_programs)
check-thread:
	+@folder=tests/unit/swansong; more='$(racing_programs:=.log)'; $(run_programs)

# Small changes that a test should notice: N of them by SEED, below IN.
EXTRA_DIST += %D%/mutate
EXTRA_DIST += %D%/golden
.PHONY: mutate
mutate:
	$(top_srcdir)/%D%/mutate -n "$(N)" -s "$(SEED)" -i "$(IN)" -b '$(abs_top_builddir)'
N    = 50
SEED = 1
IN   = src

include tests/lint/local.mk
# The order is that in which they run: what takes long begins first.
include tests/stress/local.mk
include tests/unit/local.mk
include tests/sim/local.mk
include tests/fuzz/local.mk
include tests/helpers/local.mk
include tests/integration/local.mk
include tests/bench/local.mk
