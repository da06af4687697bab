if HAVE_CHECK
if EXPORTER
check_PROGRAMS += %D%/test-exporter
%C%_test_exporter_SOURCES = tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c %D%/test-exporter.h %D%/test-exporter.c %D%/test-copy.c %D%/test-text.c \
	%D%/test-metrics.c %D%/test-access.c %D%/test-action.c \
	%D%/test-shown.c %D%/test-tail.c %D%/test-stream.c %D%/test-sandbox.c %D%/test-link.c \
	%D%/test-daemon.h %D%/test-daemon.c %D%/test-routes.c %D%/test-past.c
%C%_test_exporter_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS) \
	$(MICROHTTPD_CFLAGS)
%C%_test_exporter_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sd_event_source_set_time_relative \
	-Wl,--wrap=sd_event_add_time_relative,--wrap=client_connect
%C%_test_exporter_LDADD   = tests/unit/fixtures/libtestmain.la src/exporter/libexporter.la \
	src/proto/libproto.la src/model/libmodel.la src/sys/libsys.la src/base/libbase.la
endif
endif
