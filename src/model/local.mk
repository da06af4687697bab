noinst_LTLIBRARIES += %D%/libmodel.la
%C%_libmodel_la_SOURCES = \
	%D%/diag.h %D%/diag.c \
	%D%/settings.h %D%/settings.c \
	%D%/reader.h %D%/reader.c \
	%D%/source.h %D%/source.c \
	%D%/substitute.h %D%/substitute.c \
	%D%/section.h %D%/section.c \
	%D%/values.h %D%/values.c %D%/values-stop.c \
	%D%/keys.h %D%/keys.c \
	%D%/resolve.h %D%/resolve.c \
	%D%/graph.h %D%/graph.c \
	%D%/config.h %D%/config.c \
	%D%/fsm.h %D%/fsm.c \
	%D%/policy.h %D%/policy.c
%C%_libmodel_la_CFLAGS = $(AM_CFLAGS) $(INIH_CFLAGS)
%C%_libmodel_la_LIBADD = $(INIH_LIBS)
