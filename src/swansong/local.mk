# Two libraries: one of the C library alone, and one with event loops and pools, by libsystemd.
noinst_LTLIBRARIES += %D%/libswansong-core.la
%C%_libswansong_core_la_SOURCES = \
	%D%/declare.h %D%/version.h \
	%D%/base/sanitizer-private.h \
	%D%/base/atomic-private.h \
	%D%/base/lock-private.h %D%/base/lock.c \
	%D%/base/cancel-private.h \
	%D%/base/fork-private.h %D%/base/fork.c \
	%D%/base/latch-private.h %D%/base/latch.c \
	%D%/base/waiter-private.h %D%/base/waiter.c \
	%D%/base/record-private.h %D%/base/record.c \
	%D%/base/thread-private.h %D%/base/thread.c \
	%D%/count/rseq-private.h \
	%D%/count/percpu-private.h %D%/count/percpu.c \
	%D%/count/tally-private.h %D%/count/tally.c \
	%D%/count/object-private.h \
	%D%/count/misuse-private.h %D%/count/misuse.c \
	%D%/count/count-private.h %D%/count/count.c \
	%D%/count/life-private.h %D%/count/life.c \
	%D%/count/stop-private.h %D%/count/stop.c \
	%D%/count/node-private.h %D%/count/node.c \
	%D%/count/guard.c \
	%D%/count/notice-private.h %D%/count/notice.c \
	%D%/count/completion.c \
	%D%/interrupt/interrupt-private.h %D%/interrupt/interrupt.c \
	%D%/interrupt/channel-private.h %D%/interrupt/channel.c \
	%D%/interrupt/interrupt-io.c \
	%D%/end/registry.c \
	%D%/end/report-private.h %D%/end/report.c \
	%D%/attach/attach-page-private.h %D%/attach/attach-page.c \
	%D%/attach/attach.c \
	%D%/attach/stopper.c

# The library itself calls the functions, which report to a sanitizer, and inlines nothing.
swansong_cppflags = $(AM_CPPFLAGS) -DSWANSONG_NO_INLINE
%C%_libswansong_core_la_CPPFLAGS = $(swansong_cppflags)
%C%_libswansong_core_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -pthread

noinst_LTLIBRARIES += %D%/libswansong-loops.la
%C%_libswansong_loops_la_SOURCES = \
	%D%/loop/gate-private.h %D%/loop/gate.c \
	%D%/loop/loop-private.h %D%/loop/loop.c \
	%D%/loop/pool-private.h %D%/loop/pool.c \
	%D%/loop/offload.c

%C%_libswansong_loops_la_CPPFLAGS = $(swansong_cppflags)
%C%_libswansong_loops_la_CFLAGS = $(AM_CFLAGS) $(SYSTEMD_CFLAGS) -fvisibility=hidden -pthread
%C%_libswansong_loops_la_LIBADD = $(SYSTEMD_LIBS)

# Both libraries have their own copy: the second uses nothing of the first but its functions.
noinst_LTLIBRARIES += %D%/libswansong-shared.la
%C%_libswansong_shared_la_SOURCES = %D%/base/lock.c %D%/base/thread.c
%C%_libswansong_shared_la_CFLAGS  = $(AM_CFLAGS) -fvisibility=hidden -pthread

# With mistakes of the program caught: for configure --enable-debug, and for the tests of that.
EXTRA_LTLIBRARIES += %D%/libswansong-debug.la %D%/libswansong-loops-debug.la
%C%_libswansong_debug_la_SOURCES        = $(%C%_libswansong_core_la_SOURCES)
%C%_libswansong_debug_la_CPPFLAGS       = $(swansong_cppflags) -DSWANSONG_DEBUG
%C%_libswansong_debug_la_CFLAGS         = $(%C%_libswansong_core_la_CFLAGS)
%C%_libswansong_loops_debug_la_SOURCES  = $(%C%_libswansong_loops_la_SOURCES)
%C%_libswansong_loops_debug_la_CPPFLAGS = $(swansong_cppflags) -DSWANSONG_DEBUG
%C%_libswansong_loops_debug_la_CFLAGS   = $(%C%_libswansong_loops_la_CFLAGS)
%C%_libswansong_loops_debug_la_LIBADD   = $(SYSTEMD_LIBS)
CLEANFILES += %D%/libswansong-debug.la %D%/libswansong-loops-debug.la

lib_LTLIBRARIES += %D%/libswansong.la %D%/libswansong-loop.la
%C%_libswansong_la_SOURCES      =
%C%_libswansong_loop_la_SOURCES =
if DEBUG
%C%_libswansong_la_LIBADD      = %D%/libswansong-debug.la src/base/libbase.la
%C%_libswansong_loop_la_LIBADD = %D%/libswansong-loops-debug.la
else
%C%_libswansong_la_LIBADD      = %D%/libswansong-core.la src/base/libbase.la
%C%_libswansong_loop_la_LIBADD = %D%/libswansong-loops.la
endif
%C%_libswansong_loop_la_LIBADD += %D%/libswansong-shared.la src/base/libbase.la %D%/libswansong.la
swansong_ldflags = $(AM_LDFLAGS) -version-info 0:0:0 -Wl,--no-undefined -Wl,-z,nodelete
%C%_libswansong_la_LDFLAGS = $(swansong_ldflags) \
	-Wl,--version-script=$(top_srcdir)/%D%/libswansong.sym
%C%_libswansong_loop_la_LDFLAGS = $(swansong_ldflags) \
	-Wl,--version-script=$(top_srcdir)/%D%/libswansong-loop.sym
EXTRA_%C%_libswansong_la_DEPENDENCIES      = %D%/libswansong.sym
EXTRA_%C%_libswansong_loop_la_DEPENDENCIES = %D%/libswansong-loop.sym

# Archives, of configure --enable-static: no names of the library are visible but swansong_*.
install-exec-hook:
	for name in libswansong libswansong-loop; do \
		archive=$(DESTDIR)$(libdir)/$$name.a; \
		[ ! -f "$$archive" ] || \
			LD='$(LD)' OBJCOPY='$(OBJCOPY)' AR='$(AR)' \
				$(SHELL) $(top_srcdir)/%D%/hide-names "$$archive" || exit; \
	done
EXTRA_DIST += %D%/hide-names %D%/count/counting.md

swansongincludedir = $(includedir)/swansong
swansonginclude_HEADERS = \
	%D%/attach.h %D%/completion.h %D%/declare.h %D%/guard.h %D%/interrupt-io.h %D%/interrupt.h \
	%D%/loop.h %D%/node.h %D%/pool.h %D%/registry.h %D%/report.h %D%/swansong.h %D%/version.h
pkgconfigdir   = $(libdir)/pkgconfig
pkgconfig_DATA = %D%/libswansong.pc %D%/libswansong-loop.pc
EXTRA_DIST    += %D%/libswansong.sym %D%/libswansong-loop.sym
