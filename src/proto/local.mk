noinst_LTLIBRARIES += %D%/libproto.la
%C%_libproto_la_SOURCES = \
	%D%/frame.h %D%/frame.c \
	%D%/writer.h %D%/writer.c \
	%D%/message.h %D%/message.c \
	%D%/field.h %D%/field.c \
	%D%/columns.h %D%/columns.c \
	%D%/interface.h %D%/interface.c %D%/interface-text.c \
	%D%/view.h %D%/view.c \
	%D%/report.h %D%/report.c \
	%D%/address.h %D%/address.c \
	%D%/client.h %D%/client.c
%C%_libproto_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libproto_la_LIBADD = $(JANSSON_LIBS)
