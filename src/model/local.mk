noinst_LTLIBRARIES += %D%/libmodel.la
%C%_libmodel_la_SOURCES = \
	%D%/base/table.h %D%/base/key.h \
	%D%/base/diag.h %D%/base/diag.c \
	%D%/base/values.h %D%/base/values.c \
	%D%/base/settings.h %D%/base/settings.c \
	%D%/base/nodes.h %D%/base/nodes.c \
	%D%/life/budget.h %D%/life/budget.c \
	%D%/life/fsm.h %D%/life/fsm.c \
	%D%/life/goal.h %D%/life/goal.c \
	%D%/life/policy.h %D%/life/policy.c \
	%D%/forecast/forecast-graph.h %D%/forecast/forecast-graph.c \
	%D%/forecast/forecast-order.h %D%/forecast/forecast-order.c \
	%D%/forecast/forecast.h %D%/forecast/forecast.c \
	%D%/file/reader.h %D%/file/reader.c \
	%D%/file/source.h %D%/file/source.c \
	%D%/file/substitute.h %D%/file/substitute.c \
	%D%/types/calendar.h %D%/types/calendar.c \
	%D%/types/type.h %D%/types/type.c \
	%D%/types/schedule.h %D%/types/schedule.c \
	%D%/types/plain.c %D%/types/text.c %D%/types/command.c %D%/types/user.c \
	%D%/types/process.c %D%/types/probe.c %D%/types/listen.c \
	%D%/keys/keys.h %D%/keys/keys.c \
	%D%/keys/diff.h %D%/keys/diff.c \
	%D%/keys/section.h %D%/keys/section.c \
	%D%/config/dropin.h %D%/config/dropin.c \
	%D%/config/environment.h %D%/config/environment.c \
	%D%/config/sockets.h %D%/config/sockets.c \
	%D%/config/resolve.h %D%/config/resolve.c \
	%D%/config/graph.h %D%/config/graph.c \
	%D%/config/config.h %D%/config/config.c \
	%D%/config/transient.h %D%/config/transient.c

# Pages and completions are filled in from the table of keys: $@ from $@.in.
keys         = $(top_srcdir)/%D%/base/keys.awk $(top_srcdir)/%D%/base/table.h
fill_in_keys = $(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(AWK) -f $(keys) $(top_srcdir)/$@.in >$@.new && mv $@.new $@
EXTRA_DIST  += %D%/base/keys.awk

$(%C%_libmodel_la_OBJECTS): src/base/protections.inc
