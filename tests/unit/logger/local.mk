if HAVE_CHECK
check_PROGRAMS += %D%/test-logger
%C%_test_logger_SOURCES = tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c \
	%D%/play.h %D%/play.c %D%/test-logger.c %D%/test-lines.c %D%/test-files.c \
	%D%/test-kill.c %D%/test-trouble.c %D%/test-view.c %D%/test-out.c
%C%_test_logger_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
# Where the journal is.
%C%_test_logger_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=connect,--wrap=setsockopt
%C%_test_logger_LDADD   = tests/unit/fixtures/libtestmain.la src/logger/liblogger.la \
	src/proto/libproto.la src/sys/libsys.la src/base/libbase.la
endif
