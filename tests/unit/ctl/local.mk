if HAVE_CHECK
check_PROGRAMS += %D%/test-ctl
%C%_test_ctl_SOURCES = $(nomem_sources) %D%/test-ctl.h %D%/test-ctl-fixture.c %D%/test-ctl.c \
	%D%/test-report.c %D%/test-reload.c %D%/test-shutdown.c %D%/test-guard.c \
	%D%/test-hostile.c %D%/test-interrupt.c %D%/test-plan.c %D%/test-logs.c %D%/test-lines.c \
	%D%/test-settings.c %D%/test-check.c %D%/test-session.c
%C%_test_ctl_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS) $(SMARTCOLS_CFLAGS)
%C%_test_ctl_LDFLAGS = $(nomem_ldflags) -Wl,--wrap=posix_spawnp,--wrap=poll,--wrap=clock_now_usec
%C%_test_ctl_LDADD   = tests/unit/fixtures/libtestmain.la src/ctl/libctl.la src/proto/libproto.la \
	src/model/libmodel.la src/sys/libsys.la src/base/libbase.la $(JANSSON_LIBS)
endif
