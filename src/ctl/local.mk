noinst_LTLIBRARIES += %D%/libctl.la
%C%_libctl_la_SOURCES = \
	%D%/options.h %D%/options.c \
	%D%/screen.h %D%/screen.c \
	%D%/session.h %D%/session.c \
	%D%/losses.h %D%/losses.c \
	%D%/nodes.h %D%/nodes.c \
	%D%/forest.h %D%/forest.c \
	%D%/show.h %D%/show.c \
	%D%/progress.h %D%/progress.c \
	%D%/past.h %D%/past.c \
	%D%/svg.h %D%/svg.c \
	%D%/plot.h %D%/plot.c \
	%D%/offline.h %D%/offline.c \
	%D%/runner.h %D%/runner.c \
	%D%/lines.h %D%/lines.c \
	%D%/cmd.h \
	%D%/cmd-status.c \
	%D%/cmd-tree.c \
	%D%/cmd-list.c \
	%D%/cmd-events.c \
	%D%/cmd-logs.c \
	%D%/cmd-health.c \
	%D%/cmd-service.c \
	%D%/cmd-shutdown.c \
	%D%/cmd-guard.c \
	%D%/cmd-guards.c \
	%D%/cmd-interrupt.c \
	%D%/cmd-check.c \
	%D%/cmd-blame.c \
	%D%/cmd-plot.c \
	%D%/cmd-plan.c \
	%D%/cmd-reload.c \
	%D%/cmd-signal.c \
	%D%/cmd-run.c \
	%D%/commands.h %D%/commands.c \
	%D%/program.h %D%/program.c
%C%_libctl_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libctl_la_LIBADD = $(JANSSON_LIBS)

# main() is last: nobody includes it.
bin_PROGRAMS += swansongctl
swansongctl_SOURCES = %D%/main.c
swansongctl_CFLAGS  = $(AM_CFLAGS) $(PROGRAM_CFLAGS)
swansongctl_LDFLAGS = $(AM_LDFLAGS) $(PROGRAM_LDFLAGS)
swansongctl_LDADD   = %D%/libctl.la src/proto/libproto.la src/model/libmodel.la \
	src/sys/libsys.la src/base/libbase.la
