if HAVE_CHECK
play_sources = tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c %D%/play.h %D%/play.c
logger_libraries = tests/unit/fixtures/libtestmain.la src/logger/liblogger.la \
	src/proto/libproto.la src/sys/libsys.la src/base/libbase.la

# What takes long begins first.
check_PROGRAMS += %D%/test-kill
%C%_test_kill_SOURCES = %D%/test-kill.c $(play_sources)
%C%_test_kill_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_kill_LDADD   = $(logger_libraries)

check_PROGRAMS += %D%/test-trouble
%C%_test_trouble_SOURCES = %D%/test-trouble.c $(play_sources)
%C%_test_trouble_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_trouble_LDADD   = $(logger_libraries)

check_PROGRAMS += %D%/test-logger
%C%_test_logger_SOURCES = %D%/test-logger.c %D%/test-lines.c %D%/test-files.c \
	%D%/test-view.c %D%/test-watch.c %D%/test-out.c $(play_sources)
%C%_test_logger_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(ZSTD_CFLAGS)
# Where the journal is.
%C%_test_logger_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=connect,--wrap=setsockopt
%C%_test_logger_LDADD   = $(logger_libraries) $(ZSTD_LIBS)

check_PROGRAMS += %D%/test-helper
%C%_test_helper_SOURCES = %D%/test-helper.c tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c
%C%_test_helper_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_helper_LDADD   = $(logger_libraries)

check_PROGRAMS += %D%/test-hang
%C%_test_hang_SOURCES = %D%/test-hang.c $(play_sources)
%C%_test_hang_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_hang_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_now_usec
%C%_test_hang_LDADD   = $(logger_libraries)
endif
