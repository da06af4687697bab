# Programs that race on purpose; also run by ./bootstrap check under the sanitizers.

# There is no stepping what is inlined; the library's functions do the same.
STEPPED_CPPFLAGS = $(AM_CPPFLAGS) -DSWANSONG_STEP -DSWANSONG_NO_INLINE

# The library's own sources, stepped through every interleaving.
check_LTLIBRARIES += %D%/libstepped.la
%C%_libstepped_la_SOURCES = \
	src/swansong/latch.c \
	src/swansong/waiter.c \
	src/swansong/record.c \
	src/swansong/misuse.c \
	src/swansong/percpu.c \
	src/swansong/tally.c \
	src/swansong/count.c \
	src/swansong/node.c \
	src/swansong/guard.c \
	src/swansong/completion.c \
	src/swansong/interrupt.c \
	src/swansong/report.c
%C%_libstepped_la_CPPFLAGS = $(STEPPED_CPPFLAGS) -Dfree=explore_free \
	-Dmalloc=explore_malloc -Dcalloc=explore_calloc -Daligned_alloc=explore_aligned_alloc
%C%_libstepped_la_CFLAGS = $(AM_CFLAGS) -pthread

check_PROGRAMS += %D%/stress-interleave
%C%_stress_interleave_SOURCES = \
	%D%/explore.h %D%/explore.c \
	%D%/flawed.h %D%/flawed.c \
	%D%/stress-interleave.c
%C%_stress_interleave_CPPFLAGS = $(STEPPED_CPPFLAGS)
%C%_stress_interleave_CFLAGS = $(AM_CFLAGS) -pthread
%C%_stress_interleave_LDADD = %D%/libstepped.la src/base/libbase.la

check_PROGRAMS += %D%/stress-premature
%C%_stress_premature_SOURCES = \
	%D%/explore.h %D%/explore.c \
	%D%/flawed.h %D%/flawed.c \
	%D%/stress-premature.c
%C%_stress_premature_CPPFLAGS = $(STEPPED_CPPFLAGS)
%C%_stress_premature_CFLAGS = $(AM_CFLAGS) -pthread
%C%_stress_premature_LDADD = %D%/libstepped.la src/base/libbase.la

# The way into a loop; what it sleeps on is the program's.
check_LTLIBRARIES += %D%/libstepped-gate.la
%C%_libstepped_gate_la_SOURCES = src/swansong/gate.c
%C%_libstepped_gate_la_CPPFLAGS = $(STEPPED_CPPFLAGS) -Deventfd=explore_eventfd \
	-Deventfd_write=explore_eventfd_write -Deventfd_read=explore_eventfd_read
%C%_libstepped_gate_la_CFLAGS = $(AM_CFLAGS) -pthread

check_PROGRAMS += %D%/stress-gate
%C%_stress_gate_SOURCES = %D%/explore.h %D%/explore.c %D%/stress-gate.c
%C%_stress_gate_CPPFLAGS = $(STEPPED_CPPFLAGS)
%C%_stress_gate_CFLAGS = $(AM_CFLAGS) -pthread
%C%_stress_gate_LDADD = %D%/libstepped-gate.la %D%/libstepped.la src/base/libbase.la

check_PROGRAMS += %D%/stress-accounting
%C%_stress_accounting_SOURCES = \
	%D%/flawed.h %D%/flawed.c \
	%D%/stress.h \
	%D%/stress-accounting.c
%C%_stress_accounting_CFLAGS = $(AM_CFLAGS) -pthread
%C%_stress_accounting_LDADD  = src/swansong/libswansong-core.la src/base/libbase.la

check_PROGRAMS += %D%/stress-percpu-accounting
%C%_stress_percpu_accounting_SOURCES  = %D%/flawed.h %D%/flawed.c %D%/stress.h %D%/stress-accounting.c
%C%_stress_percpu_accounting_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/unit/percpu-nodes.h
%C%_stress_percpu_accounting_CFLAGS   = $(AM_CFLAGS) -pthread
%C%_stress_percpu_accounting_LDADD    = src/swansong/libswansong-core.la src/base/libbase.la

check_PROGRAMS += %D%/stress-tree
%C%_stress_tree_SOURCES = %D%/stress.h %D%/stress-tree.c
%C%_stress_tree_CFLAGS  = $(AM_CFLAGS) -pthread
%C%_stress_tree_LDADD   = src/swansong/libswansong-core.la src/base/libbase.la

check_PROGRAMS += %D%/stress-percpu-tree
%C%_stress_percpu_tree_SOURCES  = %D%/stress.h %D%/stress-tree.c
%C%_stress_percpu_tree_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/unit/percpu-nodes.h
%C%_stress_percpu_tree_CFLAGS   = $(AM_CFLAGS) -pthread
%C%_stress_percpu_tree_LDADD    = src/swansong/libswansong-core.la src/base/libbase.la

check_PROGRAMS += %D%/stress-loop
%C%_stress_loop_SOURCES = %D%/stress.h %D%/stress-loop.c
%C%_stress_loop_CFLAGS  = $(AM_CFLAGS) -pthread
%C%_stress_loop_LDADD   = src/swansong/libswansong-loop.la src/swansong/libswansong-core.la \
	src/base/libbase.la $(SYSTEMD_LIBS)
