if HAVE_CHECK
check_PROGRAMS += %D%/test-frame
%C%_test_frame_SOURCES = %D%/test-frame.c
%C%_test_frame_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_frame_LDADD   = tests/unit/fixtures/libtestmain.la src/proto/libproto.la src/base/libbase.la

check_PROGRAMS += %D%/test-proto
%C%_test_proto_SOURCES = %D%/test-proto.h %D%/test-proto.c \
	%D%/test-interface.c %D%/test-view.c
%C%_test_proto_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_proto_LDADD   = tests/unit/fixtures/libtestmain.la src/proto/libproto.la src/base/libbase.la $(JANSSON_LIBS)

check_PROGRAMS += %D%/test-history
%C%_test_history_SOURCES = %D%/test-history.c
%C%_test_history_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_history_LDADD   = tests/unit/fixtures/libtestmain.la src/proto/libproto.la src/base/libbase.la $(JANSSON_LIBS)

check_PROGRAMS += %D%/test-logger
%C%_test_logger_SOURCES = %D%/test-logger.c
%C%_test_logger_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_logger_LDADD   = tests/unit/fixtures/libtestmain.la src/proto/libproto.la src/base/libbase.la
endif
