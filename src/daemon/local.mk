# Everything but main() is a convenience library, so that tests link the same objects.
noinst_LTLIBRARIES += %D%/libdaemon.la
%C%_libdaemon_la_SOURCES = \
	%D%/loop/agenda.h \
	%D%/loop/alarm.h %D%/loop/alarm.c \
	%D%/loop/events.h %D%/loop/events.c \
	%D%/loop/forced-kills.h %D%/loop/forced-kills.c \
	%D%/loop/trace.h %D%/loop/trace.c \
	%D%/loop/roster.h %D%/loop/roster.c \
	%D%/loop/disabled.h %D%/loop/disabled.c \
	%D%/loop/stamps.h %D%/loop/stamps.c \
	%D%/loop/context.h %D%/loop/context.c \
	%D%/loop/mark.h %D%/loop/mark.c \
	%D%/loop/process.h %D%/loop/process.c \
	%D%/loop/closer.h %D%/loop/closer.c \
	%D%/cgroup/delegation.h %D%/cgroup/delegation.c \
	%D%/cgroup/control-group.h %D%/cgroup/control-group.c \
	%D%/writer/program.h %D%/writer/program.c \
	%D%/writer/child.h %D%/writer/child.c \
	%D%/writer/ending.h %D%/writer/ending.c \
	%D%/logger/rules.h %D%/logger/rules.c \
	%D%/logger/state.h \
	%D%/logger/pipe.h %D%/logger/pipe.c \
	%D%/logger/wishes.h %D%/logger/wishes.c \
	%D%/logger/log-stream.h %D%/logger/log-stream.c \
	%D%/logger/capture.h %D%/logger/capture.c \
	%D%/logger/logging.h %D%/logger/logging.c \
	%D%/logger/subscription.h %D%/logger/subscription.c \
	%D%/logger/own-log.h %D%/logger/own-log.c \
	%D%/logger/history-log.h %D%/logger/history-log.c \
	%D%/logger/history-line.h %D%/logger/history-line.c \
	%D%/streams/streams.h %D%/streams/streams.c \
	%D%/streams/listener.h %D%/streams/listener.c \
	%D%/streams/fdstore.h %D%/streams/fdstore.c \
	%D%/streams/handover.h %D%/streams/handover.c \
	%D%/streams/activation.h %D%/streams/activation.c \
	%D%/node/user.h %D%/node/user.c \
	%D%/node/node.h %D%/node/node.c \
	%D%/node/stop-order.h %D%/node/stop-order.c \
	%D%/node/calls.h %D%/node/calls.c \
	%D%/node/agent.h %D%/node/agent.c \
	%D%/node/pressure.h %D%/node/pressure.c \
	%D%/guard/lease.h %D%/guard/lease.c \
	%D%/guard/lease-fd.h %D%/guard/lease-fd.c \
	%D%/guard/attach-report.h %D%/guard/attach-report.c \
	%D%/guard/attach.h %D%/guard/attach.c \
	%D%/notify/notify-message.h %D%/notify/notify-message.c \
	%D%/notify/directory.h %D%/notify/directory.c \
	%D%/notify/notify.h %D%/notify/notify.c \
	%D%/notify/watchdog.h %D%/notify/watchdog.c \
	%D%/spawn/command.h %D%/spawn/command.c \
	%D%/spawn/starts.h %D%/spawn/starts.c \
	%D%/spawn/chores.h %D%/spawn/chores.c \
	%D%/spawn/sandbox.h %D%/spawn/sandbox.c \
	%D%/spawn/launch.h %D%/spawn/launch.c \
	%D%/spawn/hook.h %D%/spawn/hook.c \
	%D%/spawn/final.h %D%/spawn/final.c \
	%D%/spawn/alert.h %D%/spawn/alert.c \
	%D%/probe/attempt.h %D%/probe/attempt.c \
	%D%/probe/connect.c %D%/probe/exec.c \
	%D%/probe/probe.h %D%/probe/probe.c \
	%D%/probe/pid-watch.h %D%/probe/pid-watch.c \
	%D%/probe/readiness.h %D%/probe/readiness.c \
	%D%/service/object.h %D%/service/object.c \
	%D%/service/reload.h %D%/service/reload.c \
	%D%/service/parts.h %D%/service/parts.c \
	%D%/service/signal.h %D%/service/signal.c \
	%D%/service/main-process.h %D%/service/main-process.c \
	%D%/service/timeout.h %D%/service/timeout.c \
	%D%/service/notify.h %D%/service/notify.c \
	%D%/service/health.h %D%/service/health.c \
	%D%/service/setup.h %D%/service/setup.c \
	%D%/service/start.h %D%/service/start.c \
	%D%/service/machine.h %D%/service/machine.c \
	%D%/tree/tree.h %D%/tree/tree.c \
	%D%/tree/edges.h %D%/tree/edges.c \
	%D%/tree/start-order.h %D%/tree/start-order.c \
	%D%/tree/deadline.h %D%/tree/deadline.c \
	%D%/tree/stop.h %D%/tree/stop.c \
	%D%/tree/goals.h %D%/tree/goals.c \
	%D%/tree/timetable.h %D%/tree/timetable.c \
	%D%/tree/build.h %D%/tree/build.c \
	%D%/tree/converge.h %D%/tree/converge.c \
	%D%/tree/failure.h %D%/tree/failure.c \
	%D%/tree/exit.h %D%/tree/exit.c \
	%D%/demand/demand.h %D%/demand/demand.c \
	%D%/demand/recycle.h %D%/demand/recycle.c \
	%D%/demand/relief.h %D%/demand/relief.c \
	%D%/demand/programs.h %D%/demand/programs.c \
	%D%/succession/succession.h %D%/succession/succession.c \
	%D%/reap/exit.h %D%/reap/exit.c \
	%D%/reap/former-goals.h %D%/reap/former-goals.c \
	%D%/reap/orphans.h %D%/reap/orphans.c \
	%D%/reap/survivors.h %D%/reap/survivors.c \
	%D%/describe/describe.h %D%/describe/describe.c \
	%D%/describe/describe-guards.c %D%/describe/describe-line.c \
	%D%/describe/history.h %D%/describe/history.c \
	%D%/describe/report.h %D%/describe/report.c \
	%D%/describe/parent.h %D%/describe/parent.c \
	%D%/reload/enable.h %D%/reload/enable.c \
	%D%/reload/plan.h %D%/reload/plan.c \
	%D%/reload/plan-apply.c \
	%D%/reload/use.h %D%/reload/use.c \
	%D%/reload/transient.h %D%/reload/transient.c \
	%D%/reload/rollout.h %D%/reload/rollout.c \
	%D%/reload/changes.h %D%/reload/changes.c \
	%D%/reload/reload.h %D%/reload/reload.c \
	%D%/reload/trial.h %D%/reload/trial.c \
	%D%/reload/steps.h %D%/reload/steps.c \
	%D%/reload/upgrade.h %D%/reload/upgrade.c \
	%D%/control/connection.h %D%/control/connection.c \
	%D%/control/requests.h %D%/control/requests-private.h %D%/control/requests.c \
	%D%/control/requests-forced.c %D%/control/requests-wait.c %D%/control/requests-node.c \
	%D%/control/requests-guard.c %D%/control/requests-reload.c \
	%D%/control/requests-watch.c \
	%D%/control/requests-run.c %D%/control/requests-plan.c %D%/control/requests-table.c \
	%D%/control/control.h %D%/control/control.c \
	%D%/main/options.h %D%/main/state.h \
	%D%/main/fault.h %D%/main/fault.c \
	%D%/main/signals.h %D%/main/signals.c \
	%D%/main/start.h %D%/main/start.c \
	%D%/main/update.h %D%/main/update.c \
	%D%/main/daemon.c

%C%_libdaemon_la_CFLAGS = $(AM_CFLAGS) $(PROGRAM_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS)
%C%_libdaemon_la_LIBADD = $(SYSTEMD_LIBS) $(JANSSON_LIBS)

sbin_PROGRAMS += swansongd
swansongd_SOURCES = %D%/main/main.c
swansongd_CFLAGS  = $(AM_CFLAGS) $(PROGRAM_CFLAGS)
swansongd_LDFLAGS = $(AM_LDFLAGS) $(PROGRAM_LDFLAGS)
swansongd_LDADD   = %D%/libdaemon.la src/proto/libproto.la src/model/libmodel.la \
	src/sys/libsys.la src/swansong/libswansong-core.la src/base/libbase.la
$(swansongd_OBJECTS): %D%/main/usage.inc
EXTRA_DIST += %D%/main/usage.txt
CLEANFILES += %D%/main/usage.inc
