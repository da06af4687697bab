# Everything but main() is a convenience library, so that tests link the same objects.
noinst_LTLIBRARIES += %D%/libdaemon.la
%C%_libdaemon_la_SOURCES = \
	%D%/alarm.h %D%/alarm.c \
	%D%/events.h %D%/events.c \
	%D%/losses.h %D%/losses.c \
	%D%/trace.h %D%/trace.c \
	%D%/context.h %D%/context.c \
	%D%/process.h %D%/process.c \
	%D%/cgroup.h \
	%D%/cgroup-drain.h %D%/cgroup-drain.c \
	%D%/cgroup.c \
	%D%/node.h %D%/node.c \
	%D%/lease.h %D%/lease.c \
	%D%/lease-fd.h %D%/lease-fd.c \
	%D%/notify-message.h %D%/notify-message.c \
	%D%/notify.h %D%/notify.c \
	%D%/watchdog.h %D%/watchdog.c \
	%D%/fdstore.h %D%/fdstore.c \
	%D%/handover.h %D%/handover.c \
	%D%/attach-report.h %D%/attach-report.c \
	%D%/attach.h %D%/attach.c \
	%D%/output.h %D%/output.c \
	%D%/syslog.h %D%/syslog.c \
	%D%/listener.h %D%/listener.c \
	%D%/activation.h %D%/activation.c \
	%D%/command.h \
	%D%/streams.h %D%/streams.c \
	%D%/service-cgroup.h \
	%D%/relay.h %D%/relay.c \
	%D%/log-watch.h %D%/log-watch.c \
	%D%/launch.h %D%/launch.c \
	%D%/hook.h %D%/hook.c \
	%D%/probe.h %D%/probe-private.h \
	%D%/probe-connect.c \
	%D%/probe-http.h %D%/probe-http.c \
	%D%/probe-exec.c \
	%D%/probe.c \
	%D%/readiness.h %D%/readiness.c \
	%D%/final.h %D%/final.c \
	%D%/service.h \
	%D%/service-cgroup.c \
	%D%/setup.h \
	%D%/tree.h %D%/failure.h %D%/order.h \
	%D%/service-reload.h %D%/service-reload.c \
	%D%/service-hook.h %D%/service-hook.c \
	%D%/service-signal.h %D%/service-signal.c \
	%D%/service-main.h %D%/service-main.c \
	%D%/busy.h %D%/busy.c \
	%D%/service-timeout.h %D%/service-timeout.c \
	%D%/service-notify.h %D%/service-notify.c \
	%D%/health.h %D%/health.c \
	%D%/service-start.h %D%/service-start.c \
	%D%/setup.c \
	%D%/service.c \
	%D%/command.c \
	%D%/service-exit.h %D%/service-exit.c \
	%D%/edges.h %D%/edges.c \
	%D%/tree.c \
	%D%/order.c \
	%D%/starting.h %D%/starting.c \
	%D%/describe.h %D%/describe.c %D%/describe-guards.c %D%/describe-line.c \
	%D%/report.h %D%/report.c \
	%D%/deadline.h %D%/deadline.c \
	%D%/shutdown.h %D%/shutdown.c \
	%D%/failure.c \
	%D%/exit.h %D%/exit.c \
	%D%/sweep.h %D%/sweep.c \
	%D%/progress.h %D%/progress.c \
	%D%/parent.h %D%/parent.c \
	%D%/plan.h %D%/plan.c %D%/plan-apply.c \
	%D%/transient.h %D%/transient.c \
	%D%/reload.h %D%/reload.c \
	%D%/connection.h %D%/connection.c \
	%D%/requests.h \
	%D%/requests-private.h \
	%D%/requests-forced.c \
	%D%/requests-wait.c \
	%D%/requests-node.c \
	%D%/requests-guard.c \
	%D%/requests-reload.c \
	%D%/requests-events.c \
	%D%/requests-run.c \
	%D%/requests-plan.c \
	%D%/requests.c \
	%D%/control.h %D%/control.c \
	%D%/grace.h %D%/grace.c \
	%D%/daemon.h %D%/daemon-private.h %D%/daemon-signal.c %D%/daemon-start.c %D%/daemon.c
%C%_libdaemon_la_CFLAGS = $(AM_CFLAGS) $(PROGRAM_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS)
%C%_libdaemon_la_LIBADD = $(SYSTEMD_LIBS) $(JANSSON_LIBS)

sbin_PROGRAMS += swansongd
swansongd_SOURCES = %D%/main.c
swansongd_CFLAGS  = $(AM_CFLAGS) $(PROGRAM_CFLAGS)
swansongd_LDFLAGS = $(AM_LDFLAGS) $(PROGRAM_LDFLAGS)
swansongd_LDADD   = %D%/libdaemon.la src/proto/libproto.la src/model/libmodel.la \
	src/sys/libsys.la src/swansong/libswansong-core.la src/base/libbase.la
