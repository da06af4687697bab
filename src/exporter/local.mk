if EXPORTER
noinst_LTLIBRARIES += %D%/libexporter.la
%C%_libexporter_la_SOURCES = \
	%D%/mirror/shown.h %D%/mirror/shown.c \
	%D%/mirror/copy.h %D%/mirror/copy.c \
	%D%/mirror/totals.h %D%/mirror/totals.c \
	%D%/mirror/link.h %D%/mirror/link.c \
	%D%/mirror/tail.h %D%/mirror/tail.c \
	%D%/text/api.h %D%/text/api.c \
	%D%/text/html.h %D%/text/html.c \
	%D%/text/health.h %D%/text/health.c \
	%D%/text/metrics.h %D%/text/metrics.c \
	%D%/text/past.h %D%/text/past.c \
	%D%/limits/client.h %D%/limits/client.c \
	%D%/limits/visits.h %D%/limits/visits.c \
	%D%/limits/sandbox.h %D%/limits/sandbox.c \
	%D%/http/listen.h %D%/http/listen.c \
	%D%/http/access.h %D%/http/access.c \
	%D%/http/frames.h %D%/http/frames.c \
	%D%/http/event-stream.h %D%/http/event-stream.c \
	%D%/http/reply.h %D%/http/reply.c \
	%D%/http/token.h %D%/http/token.c \
	%D%/http/action.h %D%/http/action.c \
	%D%/http/server.h %D%/http/server.c \
	%D%/http/site.h \
	%D%/http/news.h %D%/http/news.c \
	%D%/http/routes.h %D%/http/routes.c

%C%_libexporter_la_CFLAGS = $(AM_CFLAGS) $(PROGRAM_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS) \
	$(MICROHTTPD_CFLAGS)
%C%_libexporter_la_LIBADD = $(JANSSON_LIBS) $(SYSTEMD_LIBS) $(MICROHTTPD_LIBS)

page_files = %D%/page/index.html %D%/page/style.css %D%/page/actions.js %D%/page/app.js \
	%D%/page/chart.js %D%/page/dom.js %D%/page/log.js %D%/page/model.js %D%/page/node.js %D%/page/past.js \
	%D%/page/picture.js %D%/page/shutdown.js %D%/page/text.js %D%/page/tree.js
$(%C%_libexporter_la_OBJECTS): %D%/page/files.inc
%D%/page/files.inc: $(page_files) %D%/page/embed
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SHELL) $(srcdir)/%D%/page/embed $(page_files:%=$(srcdir)/%) >$@.new && mv $@.new $@
EXTRA_DIST += $(page_files) %D%/page/embed
CLEANFILES += %D%/page/files.inc

bin_PROGRAMS += swansong-exporter
swansong_exporter_SOURCES = %D%/main.c
swansong_exporter_CFLAGS  = $(AM_CFLAGS) $(PROGRAM_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS) \
	$(MICROHTTPD_CFLAGS)
swansong_exporter_LDFLAGS = $(AM_LDFLAGS) $(PROGRAM_LDFLAGS)
swansong_exporter_LDADD   = %D%/libexporter.la src/proto/libproto.la src/model/libmodel.la \
	src/sys/libsys.la src/base/libbase.la $(SYSTEMD_LIBS)
$(swansong_exporter_OBJECTS): %D%/usage.inc
EXTRA_DIST += %D%/usage.txt
CLEANFILES += %D%/usage.inc
endif
