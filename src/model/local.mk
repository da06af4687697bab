noinst_LTLIBRARIES += %D%/libmodel.la
%C%_libmodel_la_SOURCES = \
	%D%/budget.h %D%/budget.c \
	%D%/diag.h %D%/diag.c \
	%D%/settings.h %D%/settings-node.c %D%/settings.c \
	%D%/reader.h %D%/reader.c \
	%D%/source.h %D%/source.c \
	%D%/substitute.h %D%/substitute.c \
	%D%/section.h %D%/section.c \
	%D%/process-names.h %D%/process-names.c \
	%D%/choices.h %D%/choices.c \
	%D%/values.h \
	%D%/values-private.h %D%/values-private.c \
	%D%/values-output.c \
	%D%/values-process.c \
	%D%/values-restart.c \
	%D%/values-stop.c \
	%D%/values-template.c \
	%D%/values.c \
	%D%/values-hook.h %D%/values-hook.c \
	%D%/values-listen.h %D%/values-listen.c \
	%D%/values-probe.h %D%/values-probe.c \
	%D%/keys.h %D%/keys.c \
	%D%/kinds.h %D%/kinds.c %D%/kinds-process.c %D%/kinds-probe.c \
	%D%/diff.h %D%/diff.c \
	%D%/template.h %D%/template.c \
	%D%/inherit.h %D%/inherit.c \
	%D%/environment.h %D%/environment.c \
	%D%/resolve.h %D%/resolve.c \
	%D%/graph.h %D%/graph.c \
	%D%/forecast.h %D%/forecast-tree.c \
	%D%/forecast-graph.h %D%/forecast-graph.c \
	%D%/forecast-waits.h %D%/forecast-waits.c \
	%D%/forecast-followers.h %D%/forecast-followers.c \
	%D%/forecast.c \
	%D%/config.h %D%/config.c \
	%D%/transient.h %D%/transient.c \
	%D%/fsm.h %D%/fsm.c \
	%D%/policy.h %D%/policy.c \
	%D%/result.h %D%/result.c
%C%_libmodel_la_CFLAGS = $(AM_CFLAGS) $(INIH_CFLAGS)
%C%_libmodel_la_LIBADD = $(INIH_LIBS)
