# The core links without libsystemd: what is built on an event loop comes in a library beside it.
noinst_LTLIBRARIES += %D%/libswansong-core.la
%C%_libswansong_core_la_SOURCES = \
	%D%/declare.h \
	%D%/atomic-private.h \
	%D%/latch-private.h %D%/latch.c \
	%D%/waiter-private.h %D%/waiter.c \
	%D%/record-private.h %D%/record.c \
	%D%/rseq-private.h %D%/percpu-private.h %D%/percpu.c \
	%D%/tally-private.h %D%/tally.c \
	%D%/node-private.h \
	%D%/misuse-private.h %D%/misuse.c \
	%D%/count-private.h %D%/count.c \
	%D%/node.h %D%/node.c \
	%D%/guard.h %D%/guard.c \
	%D%/completion.h %D%/completion.c \
	%D%/interrupt-private.h %D%/interrupt.h %D%/interrupt.c \
	%D%/channel-private.h %D%/channel.c \
	%D%/interrupt-io.h %D%/interrupt-io.c \
	%D%/registry.h %D%/registry.c \
	%D%/report.h %D%/report-private.h %D%/report.c
%C%_libswansong_core_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -pthread

# What has threads of its own.
noinst_LTLIBRARIES += %D%/libswansong-loop.la
%C%_libswansong_loop_la_SOURCES = \
	%D%/thread-private.h %D%/thread.c \
	%D%/loop.h \
	%D%/gate-private.h %D%/gate.c \
	%D%/loop-private.h %D%/loop.c \
	%D%/pool.h %D%/pool-private.h %D%/pool.c \
	%D%/offload.c \
	%D%/attach-page-private.h %D%/attach-page.c \
	%D%/attach-report-private.h %D%/attach-report.c \
	%D%/attach.h %D%/attach.c \
	%D%/swansong.h
%C%_libswansong_loop_la_CFLAGS = $(AM_CFLAGS) $(SYSTEMD_CFLAGS) -fvisibility=hidden -pthread
%C%_libswansong_loop_la_LIBADD = $(SYSTEMD_LIBS)

# Both, with mistakes of the program caught: for configure --enable-debug, and for the tests of that.
EXTRA_LTLIBRARIES += %D%/libswansong-debug.la
%C%_libswansong_debug_la_SOURCES = \
	$(%C%_libswansong_core_la_SOURCES) $(%C%_libswansong_loop_la_SOURCES)
%C%_libswansong_debug_la_CPPFLAGS = $(AM_CPPFLAGS) -DSWANSONG_DEBUG
%C%_libswansong_debug_la_CFLAGS   = $(%C%_libswansong_loop_la_CFLAGS)
%C%_libswansong_debug_la_LIBADD   = $(SYSTEMD_LIBS)
CLEANFILES += %D%/libswansong-debug.la

lib_LTLIBRARIES += %D%/libswansong.la
%C%_libswansong_la_SOURCES =
if DEBUG
%C%_libswansong_la_LIBADD  = %D%/libswansong-debug.la src/base/libbase.la
else
%C%_libswansong_la_LIBADD  = %D%/libswansong-loop.la %D%/libswansong-core.la src/base/libbase.la
endif
%C%_libswansong_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -Wl,--no-undefined \
	-Wl,--version-script=$(top_srcdir)/%D%/libswansong.sym
EXTRA_%C%_libswansong_la_DEPENDENCIES = %D%/libswansong.sym

swansongincludedir = $(includedir)/swansong
swansonginclude_HEADERS = \
	%D%/attach.h \
	%D%/completion.h \
	%D%/declare.h \
	%D%/guard.h \
	%D%/interrupt-io.h \
	%D%/interrupt.h \
	%D%/loop.h \
	%D%/node.h \
	%D%/pool.h \
	%D%/registry.h \
	%D%/report.h \
	%D%/swansong.h
pkgconfigdir   = $(libdir)/pkgconfig
pkgconfig_DATA = %D%/libswansong.pc
EXTRA_DIST    += %D%/libswansong.sym
