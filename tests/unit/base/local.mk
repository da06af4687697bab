if HAVE_CHECK
check_PROGRAMS += %D%/test-base
%C%_test_base_SOURCES = %D%/test-base.c
%C%_test_base_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_base_LDADD   = tests/unit/fixtures/libtestmain.la src/base/libbase.la

check_PROGRAMS += %D%/test-fd
%C%_test_fd_SOURCES = %D%/test-fd.c
%C%_test_fd_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_fd_LDADD   = tests/unit/fixtures/libtestmain.la src/base/libbase.la

check_PROGRAMS += %D%/test-memstream
%C%_test_memstream_SOURCES = tests/unit/fixtures/nomem.h %D%/test-memstream.c
%C%_test_memstream_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
# Its own allocator, which can be made to fail.
%C%_test_memstream_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=realloc,--wrap=fopencookie
%C%_test_memstream_LDADD   = tests/unit/fixtures/libtestmain.la src/base/libbase.la
endif
