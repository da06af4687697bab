# A program for each target.  Without --enable-fuzzing each is a test of its seeds.
fuzz_programs = \
	%D%/fuzz-attach \
	%D%/fuzz-calendar \
	%D%/fuzz-config \
	%D%/fuzz-environment \
	%D%/fuzz-history \
	%D%/fuzz-logger \
	%D%/fuzz-notify \
	%D%/fuzz-pid-file \
	%D%/fuzz-reload \
	%D%/fuzz-reply \
	%D%/fuzz-report \
	%D%/fuzz-request \
	%D%/fuzz-roster \
	%D%/fuzz-state
if EXPORTER
fuzz_programs += %D%/fuzz-exporter %D%/fuzz-http
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
	src/sys/libsys.la src/base/libbase.la $(JANSSON_LIBS) $(SYSTEMD_LIBS)
fuzz_logger    = src/logger/liblogger.la src/proto/libproto.la src/sys/libsys.la \
	src/base/libbase.la $(ZSTD_LIBS)
fuzz_world     = %D%/world.h %D%/world.c
fuzz_world_ldflags = $(fuzz_ldflags) -Wl,--wrap=launch,--wrap=open,--wrap=bind,--wrap=connect \
	-Wl,--wrap=path_find,--wrap=path_open,--wrap=path_unlink,--wrap=path_make_directory \
	-Wl,--wrap=path_remove_directory,--wrap=clock_now_usec

%C%_fuzz_attach_SOURCES = %D%/fuzz-attach.c $(fuzz_world) $(fuzz_sources)
%C%_fuzz_attach_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_attach_LDFLAGS = $(fuzz_world_ldflags) -Wl,--wrap=pagefile_holder
%C%_fuzz_attach_LDADD   = $(fuzz_daemon)
%C%_fuzz_calendar_SOURCES = %D%/fuzz-calendar.c $(fuzz_sources)
%C%_fuzz_calendar_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_calendar_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_calendar_LDADD   = $(fuzz_model)
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
%C%_fuzz_http_SOURCES = %D%/fuzz-http.c $(fuzz_sources)
%C%_fuzz_http_CFLAGS  = $(fuzz_cflags) $(MICROHTTPD_CFLAGS)
%C%_fuzz_http_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_http_LDADD   = $(fuzz_exporter)
%C%_fuzz_logger_SOURCES = %D%/fuzz-logger.c $(fuzz_sources)
%C%_fuzz_logger_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_logger_LDFLAGS = $(fuzz_ldflags) -Wl,--wrap=helper_start,--wrap=journal_open_entries
%C%_fuzz_logger_LDADD   = $(fuzz_logger)
%C%_fuzz_notify_SOURCES = %D%/fuzz-notify.c $(fuzz_sources)
%C%_fuzz_notify_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_notify_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_notify_LDADD   = $(fuzz_daemon)
%C%_fuzz_pid_file_SOURCES = %D%/fuzz-pid-file.c $(fuzz_sources)
%C%_fuzz_pid_file_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_pid_file_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_pid_file_LDADD   = src/sys/libsys.la src/base/libbase.la
%C%_fuzz_reload_SOURCES = %D%/fuzz-reload.c $(fuzz_world) $(fuzz_sources)
%C%_fuzz_reload_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_reload_LDFLAGS = $(fuzz_world_ldflags)
%C%_fuzz_reload_LDADD   = $(fuzz_daemon)
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
%C%_fuzz_roster_SOURCES = %D%/fuzz-roster.c $(fuzz_world) $(fuzz_sources)
%C%_fuzz_roster_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_roster_LDFLAGS = $(fuzz_world_ldflags) -Wl,--wrap=kill,--wrap=inet_listen,--wrap=environment_read,--wrap=passed_close_now,--wrap=closer_discard
%C%_fuzz_roster_LDADD   = $(fuzz_daemon)
%C%_fuzz_state_SOURCES = %D%/fuzz-state.c $(fuzz_sources)
%C%_fuzz_state_CFLAGS  = $(fuzz_cflags)
%C%_fuzz_state_LDFLAGS = $(fuzz_ldflags) -Wl,--wrap=fsync
%C%_fuzz_state_LDADD   = $(fuzz_daemon)

EXTRA_DIST += %D%/seeds %D%/run.sh
CLEANFILES += fuzz-*.sock fuzz-*.sock.lock fuzz-*.pid fuzz-*.target fuzz-*.state fuzz-*.token fuzz-*.ini

# Every target; see run.sh.
.PHONY: fuzz-short fuzz-long fuzz-programs
fuzz-programs: $(fuzz_programs)
fuzz-short fuzz-long: $(fuzz_programs)
if FUZZING
	$(AM_V_at)top_srcdir='$(abs_top_srcdir)' $(top_srcdir)/%D%/run.sh $(@:fuzz-%=%) $(fuzz_programs)
else
	@echo "$@: needs configure --enable-fuzzing" >&2; exit 1
endif
