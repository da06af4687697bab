noinst_LTLIBRARIES += %D%/libproto.la
%C%_libproto_la_SOURCES = \
	%D%/frame.h %D%/frame.c \
	%D%/message.h %D%/message.c \
	%D%/field.h %D%/field.c \
	%D%/interface/types.h %D%/interface/methods.h \
	%D%/interface/interface-text.h %D%/interface/interface-text.c \
	%D%/interface.h %D%/interface.c \
	%D%/node-view.h %D%/node-view.c \
	%D%/config/settings.h %D%/config/settings.c \
	%D%/plan.h %D%/plan.c \
	%D%/address.h %D%/address.c \
	%D%/client.h %D%/client.c \
	%D%/call.h %D%/call.c \
	%D%/logger-message.h %D%/logger-message.c \
	%D%/log-reader.h %D%/log-reader.c \
	%D%/logger-store.h %D%/logger-store.c \
	%D%/history/report.h %D%/history/report.c \
	%D%/history/line.h %D%/history/line.c \
	%D%/history/reader.h %D%/history/reader.c \
	%D%/history/ledger.h %D%/history/ledger.c \
	%D%/history/figures.h %D%/history/figures.c \
	%D%/history/advice.h %D%/history/advice.c
$(%C%_libproto_la_OBJECTS): %D%/interface/varlink.inc
EXTRA_DIST += %D%/interface/varlink.txt
CLEANFILES += %D%/interface/varlink.inc
%C%_libproto_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS)
%C%_libproto_la_LIBADD = $(JANSSON_LIBS)
