noinst_LTLIBRARIES += %D%/libbase.la
%C%_libbase_la_SOURCES = \
	%D%/macro.h %D%/cleanup.h %D%/list.h %D%/attributes.h \
	%D%/text.h %D%/text.c \
	%D%/clock.h %D%/clock.c \
	%D%/fd.h %D%/fd.c \
	%D%/dict.h %D%/dict.c \
	%D%/parse.h %D%/parse.c \
	%D%/std.h \
	%D%/log.h %D%/log.c \
	%D%/page.h
