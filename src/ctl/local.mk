noinst_LTLIBRARIES += %D%/libctl.la
%C%_libctl_la_SOURCES = \
	%D%/terminal/screen.h %D%/terminal/screen.c \
	%D%/terminal/lines.h %D%/terminal/lines.c \
	%D%/terminal/show.h %D%/terminal/show.c \
	%D%/terminal/forest.h %D%/terminal/forest.c \
	%D%/session/options.h %D%/session/options.c \
	%D%/session/session.h %D%/session/session.c \
	%D%/session/forced-kills.h %D%/session/forced-kills.c \
	%D%/session/nodes.h %D%/session/nodes.c \
	%D%/session/usage.h %D%/session/usage.c \
	%D%/session/progress.h %D%/session/progress.c \
	%D%/session/offline.h %D%/session/offline.c \
	%D%/session/runner.h %D%/session/runner.c \
	%D%/logs/lines.h %D%/logs/lines.c \
	%D%/logs/older.h %D%/logs/older.c \
	%D%/logs/logs.h %D%/logs/logs.c \
	%D%/logs/print.h %D%/logs/print.c \
	%D%/history/source.h %D%/history/source.c \
	%D%/history/history.h %D%/history/history.c \
	%D%/history/advise.c \
	%D%/commands/cmd.h %D%/commands/reload.c %D%/commands/rollout.c %D%/commands/status.c %D%/commands/tree.c %D%/commands/settings.c \
	%D%/commands/top.c %D%/commands/list.c %D%/commands/events.c %D%/commands/logs.c \
	%D%/commands/health.c %D%/commands/service.c %D%/commands/shutdown.c %D%/commands/guard.c \
	%D%/commands/guards.c %D%/commands/interrupt.c %D%/commands/check.c %D%/commands/blame.c \
	%D%/commands/plan.c %D%/commands/run.c \
	%D%/program/support.c \
	%D%/program/commands.h %D%/program/commands.c \
	%D%/program/program.h %D%/program/program.c

%C%_libctl_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SMARTCOLS_CFLAGS)
%C%_libctl_la_LIBADD = $(JANSSON_LIBS) $(SMARTCOLS_LIBS)

# main() is last: nobody includes it.
bin_PROGRAMS += swansongctl
swansongctl_SOURCES = %D%/program/main.c
swansongctl_CFLAGS  = $(AM_CFLAGS) $(PROGRAM_CFLAGS)
swansongctl_LDFLAGS = $(AM_LDFLAGS) $(PROGRAM_LDFLAGS)
swansongctl_LDADD   = %D%/libctl.la src/proto/libproto.la src/model/libmodel.la \
	src/sys/libsys.la src/base/libbase.la
