# Programs that print figures; built by check, run by hand, or by `make bench`.
bench_programs = %D%/services %D%/crowd %D%/shutdown %D%/guards %D%/inits %D%/logs
bench_helpers  = %D%/floor %D%/child %D%/ender %D%/init-child
peers_helpers  = %D%/sleeper %D%/crasher

EXTRA_PROGRAMS += $(bench_programs) %D%/floor %D%/init-child
check_DATA     += $(bench_programs) $(bench_helpers)
CLEANFILES     += $(bench_programs) $(bench_helpers) $(peers_helpers)

%C%_services_SOURCES = \
	%D%/report.h %D%/report.c \
	%D%/world.h %D%/world.c \
	%D%/subject.h %D%/subject.c \
	%D%/daemon.h %D%/daemon.c \
	%D%/services.c
%C%_services_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_services_LDADD  = src/proto/libproto.la src/sys/libsys.la src/base/libbase.la $(JANSSON_LIBS) -lm

%C%_crowd_SOURCES = \
	%D%/report.h %D%/report.c \
	%D%/world.h %D%/world.c \
	%D%/subject.h %D%/subject.c \
	%D%/daemon.h %D%/daemon.c \
	%D%/crowd.c
%C%_crowd_CFLAGS = $(%C%_services_CFLAGS)
%C%_crowd_LDADD  = $(%C%_services_LDADD)

%C%_shutdown_SOURCES = \
	%D%/report.h %D%/report.c \
	%D%/world.h %D%/world.c \
	%D%/subject.h %D%/subject.c \
	%D%/daemon.h %D%/daemon.c \
	%D%/shutdown.c
%C%_shutdown_CFLAGS = $(%C%_services_CFLAGS)
%C%_shutdown_LDADD  = $(%C%_services_LDADD)

%C%_logs_SOURCES = %D%/report.h %D%/report.c \
	%D%/logs.h %D%/logs-peers.c %D%/logs-crowd.c %D%/logs.c
%C%_logs_CFLAGS  = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_logs_LDADD   = src/proto/libproto.la src/base/libbase.la $(JANSSON_LIBS) -lm

%C%_inits_SOURCES = \
	%D%/report.h %D%/report.c \
	%D%/world.h %D%/world.c \
	%D%/subject.h %D%/subject.c \
	%D%/inits.c
%C%_inits_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_inits_LDADD  = src/base/libbase.la $(JANSSON_LIBS) -lm
%C%_init_child_SOURCES = %D%/init-child.c

# As a program of users is linked.
%C%_guards_SOURCES = tests/unit/fixtures/fake-daemon.h \
	%D%/report.h %D%/report.c \
	%D%/guards.h %D%/guards-time.c \
	%D%/guards-crowd.c %D%/guards-wakes.c %D%/guards-locks.c %D%/guards-reads.c \
	%D%/guards.c
%C%_guards_CFLAGS  = $(AM_CFLAGS) $(JANSSON_CFLAGS) -pthread
%C%_guards_LDADD   = src/swansong/libswansong.la src/base/libbase.la $(JANSSON_LIBS) -lm

%C%_floor_SOURCES = %D%/floor.c
%C%_floor_LDADD   = src/sys/libsys.la src/base/libbase.la

# Without the C library where that is known to work, else as any program.
EXTRA_DIST += %D%/child.c
build_child = $(MKDIR_P) %D% && \
	{ $(CC) -Os -fno-stack-protector -DCHILD_TINY -static -nostdlib -Wl,-z,noseparate-code \
		$$options -o $@ $(srcdir)/%D%/child.c 2>/dev/null || \
	$(CC) $(CFLAGS) $(LDFLAGS) $$options -o $@ $(srcdir)/%D%/child.c; }

%D%/child: %D%/child.c
	$(AM_V_CCLD)options= && $(build_child)

%D%/ender: %D%/child.c
	$(AM_V_CCLD)options='-DCHILD_ENDS=1' && $(build_child)

# Those of tests/bench/peers.
EXTRA_DIST += %D%/peers %D%/peer_kinds.py %D%/bench_world.py %D%/zero-loss %D%/exporter %D%/live \
	%D%/pressure
%D%/sleeper: %D%/child.c
	$(AM_V_CCLD)options='-DCHILD_BIRTHS="births"' && $(build_child)
%D%/crasher: %D%/child.c
	$(AM_V_CCLD)options='-DCHILD_BIRTHS="births" -DCHILD_ENDS=1' && $(build_child)

.PHONY: bench
bench: swansongd swansongctl swansong-logger $(bench_programs) $(bench_helpers)
	@status=0; for program in $(bench_programs); do ./$$program || status=1; done; exit $$status

# Beside other supervisors, as many as are installed.
.PHONY: bench-peers
bench-peers: swansongd swansongctl %D%/floor $(peers_helpers)
	$(srcdir)/%D%/peers --builddir .

# What a restart under load loses, beside what it does in other ways.
.PHONY: bench-zero-loss
bench-zero-loss: swansongd swansongctl contrib/examples/http-server tests/helpers/http-load \
		tests/helpers/slow-server tests/helpers/attached
	$(srcdir)/%D%/zero-loss --builddir .
	$(srcdir)/%D%/zero-loss --builddir . --long

# What a scrape costs, beside that of a machine's exporter.
.PHONY: bench-exporter
bench-exporter: swansongd swansongctl swansong-logger swansong-exporter tests/helpers/idle
	$(srcdir)/%D%/exporter --builddir .

# What faults and upgrades of the daemon cost its services and clients.
.PHONY: bench-live
bench-live: swansongd swansongctl swansong-logger contrib/examples/http-server tests/helpers/http-load \
		tests/helpers/attached
	$(srcdir)/%D%/live --builddir .

# What a batch whose memory grows costs the services beside it.
.PHONY: bench-pressure
bench-pressure: swansongd swansongctl swansong-logger contrib/examples/http-server tests/helpers/http-load \
		tests/helpers/hungry
	$(srcdir)/%D%/pressure
