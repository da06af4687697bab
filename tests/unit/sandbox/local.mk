if HAVE_CHECK
check_PROGRAMS += %D%/test-options
%C%_test_options_SOURCES = %D%/test-options.c
%C%_test_options_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_options_LDADD   = tests/unit/fixtures/libtestmain.la src/sandbox/libsandbox.la src/sys/libsys.la src/base/libbase.la
endif
