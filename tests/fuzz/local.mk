# A program for each target.  Without --enable-fuzzing each is a test of its seeds.
fuzz_programs = \
	%D%/fuzz-attach \
	%D%/fuzz-config \
	%D%/fuzz-environment \
	%D%/fuzz-history \
	%D%/fuzz-logger \
	%D%/fuzz-notify \
	%D%/fuzz-reply \
	%D%/fuzz-report \
	%D%/fuzz-request
if EXPORTER
fuzz_programs += %D%/fuzz-exporter
endif
fuzz_sources = %D%/fuzz.h %D%/fuzz.c
if !FUZZING
fuzz_sources += %D%/replay.c
check_PROGRAMS += $(fuzz_programs)
endif
EXTRA_PROGRAMS += $(fuzz_programs)
CLEANFILES     += $(fuzz_programs)

fuzz_cflags    = $(AM_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS)
fuzz_ldflags   = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_model     = src/model/libmodel.la src/base/libbase.la
fuzz_ctl       = src/ctl/libctl.la src/proto/libproto.la src/model/libmodel.la src/sys/libsys.la \
	src/base/libbase.la $(JANSSON_LIBS)
fuzz_daemon    = src/daemon/libdaemon.la src/proto/libproto.la src/model/libmodel.la \
	src/sys/libsys.la src/swansong/libswansong-core.la src/base/libbase.la $(JANSSON_LIBS)
fuzz_exporter  = src/exporter/libexporter.la src/proto/libproto.la src/model/libmodel.la \
	src/sys/libsys.la src/base/libbase.la $(JANSSON_LIBS)
fuzz_logger    = src/logger/liblogger.la src/proto/libproto.la src/sys/libsys.la \
	src/base/libbase.la $(ZSTD_LIBS)
fuzz_world     = %D%/world.h %D%/world.c
fuzz_world_ldflags = $(fuzz_ldflags) -Wl,--wrap=launch,--wrap=open,--wrap=bind

%C%_fuzz_attach_SOURCES = %D%/fuzz-attach.c $(fuzz_world) $(fuzz_sources)
%C%_fuzz_attach_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_attach_LDFLAGS = $(fuzz_world_ldflags) -Wl,--wrap=pagefile_holder
%C%_fuzz_attach_LDADD   = $(fuzz_daemon)
%C%_fuzz_config_SOURCES = %D%/fuzz-config.c $(fuzz_sources)
%C%_fuzz_config_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_config_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_config_LDADD   = $(fuzz_model)
%C%_fuzz_environment_SOURCES = %D%/fuzz-environment.c $(fuzz_sources)
%C%_fuzz_environment_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_environment_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_environment_LDADD   = $(fuzz_model)
%C%_fuzz_exporter_SOURCES = %D%/fuzz-exporter.c $(fuzz_sources)
%C%_fuzz_exporter_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_exporter_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_exporter_LDADD   = $(fuzz_exporter)
%C%_fuzz_history_SOURCES = %D%/fuzz-history.c %D%/program.h %D%/program.c $(fuzz_sources)
%C%_fuzz_history_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_history_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_history_LDADD   = $(fuzz_ctl)
%C%_fuzz_logger_SOURCES = %D%/fuzz-logger.c $(fuzz_sources)
%C%_fuzz_logger_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_logger_LDFLAGS = $(fuzz_ldflags) -Wl,--wrap=helper_start,--wrap=entry_open
%C%_fuzz_logger_LDADD   = $(fuzz_logger)
%C%_fuzz_notify_SOURCES = %D%/fuzz-notify.c $(fuzz_sources)
%C%_fuzz_notify_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_notify_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_notify_LDADD   = $(fuzz_daemon)
%C%_fuzz_reply_SOURCES = %D%/fuzz-reply.c %D%/program.h %D%/program.c $(fuzz_sources)
%C%_fuzz_reply_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_reply_LDFLAGS = $(fuzz_ldflags) -Wl,--wrap=connect
%C%_fuzz_reply_LDADD   = $(fuzz_ctl)
%C%_fuzz_report_SOURCES = %D%/fuzz-report.c %D%/program.h %D%/program.c $(fuzz_sources)
%C%_fuzz_report_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_report_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_report_LDADD   = $(fuzz_ctl)
%C%_fuzz_request_SOURCES = %D%/fuzz-request.c $(fuzz_world) $(fuzz_sources)
%C%_fuzz_request_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_request_LDFLAGS = $(fuzz_world_ldflags)
%C%_fuzz_request_LDADD   = $(fuzz_daemon)

EXTRA_DIST += %D%/seeds %D%/short.sh
CLEANFILES += fuzz-*.sock fuzz-*.sock.lock

# Every target for FUZZ_SECONDS (60), as many at once as there are processors.
.PHONY: fuzz-short fuzz-programs
fuzz-programs: $(fuzz_programs)
fuzz-short: $(fuzz_programs)
if FUZZING
	$(AM_V_at)top_srcdir='$(abs_top_srcdir)' $(top_srcdir)/%D%/short.sh $(fuzz_programs)
else
	@echo "fuzz-short: needs configure --enable-fuzzing" >&2; exit 1
endif
