noinst_LTLIBRARIES += %D%/liblogger.la
%C%_liblogger_la_SOURCES = \
	%D%/ring/area.h %D%/ring/area.c \
	%D%/ring/stream.h %D%/ring/stream.c \
	%D%/ring/format.h %D%/ring/format.c \
	%D%/file/rotated.h %D%/file/rotated.c \
	%D%/file/compress.h %D%/file/compress.c \
	%D%/file/older.h %D%/file/older.c \
	%D%/file/files.h %D%/file/files.c \
	%D%/file/worker.h %D%/file/worker.c \
	%D%/file/helper.h %D%/file/helper.c \
	%D%/out/view.h %D%/out/view.c \
	%D%/loop/state.h %D%/loop/state.c \
	%D%/loop/reply.h %D%/loop/reply.c \
	%D%/loop/sinks.h %D%/loop/sinks.c \
	%D%/loop/loud.h %D%/loop/loud.c \
	%D%/loop/deliver.h %D%/loop/deliver.c \
	%D%/loop/input.h %D%/loop/input.c \
	%D%/loop/control.h %D%/loop/control.c \
	%D%/loop/sandbox.h %D%/loop/sandbox.c \
	%D%/loop/logger.h %D%/loop/logger.c

%C%_liblogger_la_CFLAGS = $(AM_CFLAGS) $(PROGRAM_CFLAGS) $(ZSTD_CFLAGS)
%C%_liblogger_la_LIBADD = $(ZSTD_LIBS)

pkglibexec_PROGRAMS = swansong-logger
swansong_logger_SOURCES = %D%/main.c
swansong_logger_CFLAGS  = $(AM_CFLAGS) $(PROGRAM_CFLAGS)
swansong_logger_LDFLAGS = $(AM_LDFLAGS) $(PROGRAM_LDFLAGS)
swansong_logger_LDADD   = %D%/liblogger.la src/proto/libproto.la src/sys/libsys.la src/base/libbase.la
