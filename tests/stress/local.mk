# Programs that race on purpose, and programs that step through every order, without threads.
racing_programs = \
	%D%/stress-accounting \
	%D%/stress-percpu-accounting \
	%D%/stress-tree \
	%D%/stress-percpu-tree \
	%D%/stress-loop
stepped_programs = \
	%D%/stress-interleave \
	%D%/stress-premature \
	%D%/stress-cancel \
	%D%/stress-gate
check_PROGRAMS += $(racing_programs) $(stepped_programs)

# Inlined code cannot be stepped; the functions of the library do the same.
STEPPED_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) -DSWANSONG_STEP -DSWANSONG_NO_INLINE

# The library's own sources, stepped through every interleaving.
check_LTLIBRARIES += %D%/libstepped.la
%C%_libstepped_la_SOURCES = \
	%D%/step-atomic.h %D%/step-lock.h %D%/step-rseq.h \
	src/swansong/base/fork.c \
	src/swansong/base/latch.c \
	src/swansong/base/waiter.c \
	src/swansong/base/record.c \
	src/swansong/base/thread.c \
	src/swansong/count/misuse.c \
	src/swansong/count/percpu.c \
	src/swansong/count/tally.c \
	src/swansong/count/count.c \
	src/swansong/count/life.c \
	src/swansong/count/stop.c \
	src/swansong/count/node.c \
	src/swansong/count/guard.c \
	src/swansong/count/notice.c \
	src/swansong/count/completion.c \
	src/swansong/interrupt/interrupt.c \
	src/swansong/interrupt/channel.c \
	src/swansong/interrupt/interrupt-io.c \
	src/swansong/end/report.c \
	src/swansong/end/registry.c
%C%_libstepped_la_CPPFLAGS = $(STEPPED_CPPFLAGS) -include $(srcdir)/%D%/cancel-points.h -Dfree=explore_free \
	-Dmalloc=explore_malloc -Dcalloc=explore_calloc -Daligned_alloc=explore_aligned_alloc \
	-Dreallocarray=explore_reallocarray
%C%_libstepped_la_CFLAGS = $(AM_CFLAGS) -pthread

%C%_stress_interleave_SOURCES = \
	%D%/explore.h %D%/explore.c \
	%D%/flawed.h %D%/flawed.c \
	%D%/stress-interleave.c
%C%_stress_interleave_CPPFLAGS = $(STEPPED_CPPFLAGS)
%C%_stress_interleave_CFLAGS = $(AM_CFLAGS) -pthread
%C%_stress_interleave_LDADD = %D%/libstepped.la src/base/libbase.la

%C%_stress_premature_SOURCES = \
	%D%/explore.h %D%/explore.c \
	%D%/flawed.h %D%/flawed.c \
	%D%/stress-premature.c
%C%_stress_premature_CPPFLAGS = $(STEPPED_CPPFLAGS)
%C%_stress_premature_CFLAGS = $(AM_CFLAGS) -pthread
%C%_stress_premature_LDADD = %D%/libstepped.la src/base/libbase.la

# pthreads(7), and those of Linux besides.  One that is called must have a wrapper in cancel-points.c.
cancellation_points = accept accept4 aio_suspend clock_nanosleep close connect creat epoll_pwait \
	epoll_wait eventfd_read eventfd_write fdatasync fsync lockf mq_receive mq_send mq_timedreceive \
	mq_timedsend msgrcv msgsnd msync nanosleep open open64 openat openat64 pause poll ppoll pread \
	pread64 preadv preadv2 pselect pthread_cond_timedwait pthread_cond_wait pthread_join \
	pthread_testcancel pwrite pwrite64 pwritev pwritev2 read readv recv recvfrom recvmmsg recvmsg \
	select sem_timedwait sem_wait send sendfile sendmmsg sendmsg sendto sigpause sigsuspend \
	sigtimedwait sigwait sigwaitinfo sleep splice system tcdrain tee usleep vmsplice wait wait3 \
	wait4 waitid waitpid write writev __open_2 __poll_chk __ppoll_chk __pread_chk __read_chk \
	__recv_chk __recvfrom_chk
cancellation_ldflags = -Wl,--wrap=pthread_setcancelstate \
	`echo ' $(cancellation_points)' | sed 's/ \([a-z0-9_]*\)/ -Wl,--wrap=\1/g'`

%C%_stress_cancel_SOURCES = \
	%D%/explore.h %D%/explore.c \
	%D%/cancel-points.h %D%/cancel-points.c \
	%D%/cancel-programs.h %D%/cancel-programs.c \
	%D%/stress-cancel.c
%C%_stress_cancel_CPPFLAGS = $(STEPPED_CPPFLAGS)
%C%_stress_cancel_CFLAGS = $(AM_CFLAGS) -pthread
%C%_stress_cancel_LDFLAGS = $(AM_LDFLAGS) $(cancellation_ldflags)
%C%_stress_cancel_LDADD = %D%/libstepped.la src/base/libbase.la

# The gate of a loop; the program has its own word to sleep on.
check_LTLIBRARIES += %D%/libstepped-gate.la
%C%_libstepped_gate_la_SOURCES = src/swansong/loop/gate.c
%C%_libstepped_gate_la_CPPFLAGS = $(STEPPED_CPPFLAGS) -Deventfd=explore_eventfd \
	-Deventfd_write=explore_eventfd_write -Deventfd_read=explore_eventfd_read
%C%_libstepped_gate_la_CFLAGS = $(AM_CFLAGS) -pthread

%C%_stress_gate_SOURCES = \
	%D%/explore.h %D%/explore.c \
	%D%/cancel-points.h %D%/cancel-points.c \
	%D%/stress-gate.c
%C%_stress_gate_CPPFLAGS = $(STEPPED_CPPFLAGS)
%C%_stress_gate_CFLAGS = $(AM_CFLAGS) -pthread
%C%_stress_gate_LDFLAGS = $(AM_LDFLAGS) $(cancellation_ldflags)
%C%_stress_gate_LDADD = %D%/libstepped-gate.la %D%/libstepped.la src/base/libbase.la

%C%_stress_accounting_SOURCES = \
	%D%/flawed.h %D%/flawed.c \
	%D%/stress.h \
	%D%/stress-accounting.c
%C%_stress_accounting_CFLAGS = $(AM_CFLAGS) -pthread
%C%_stress_accounting_LDADD  = src/swansong/libswansong-core.la src/base/libbase.la

%C%_stress_percpu_accounting_SOURCES  = %D%/flawed.h %D%/flawed.c %D%/stress.h %D%/stress-accounting.c
%C%_stress_percpu_accounting_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/unit/fixtures/swansong/percpu-nodes.h
%C%_stress_percpu_accounting_CFLAGS   = $(AM_CFLAGS) -pthread
%C%_stress_percpu_accounting_LDADD    = src/swansong/libswansong-core.la src/base/libbase.la

%C%_stress_tree_SOURCES = %D%/stress.h %D%/stress-tree.c
%C%_stress_tree_CFLAGS  = $(AM_CFLAGS) -pthread
%C%_stress_tree_LDADD   = src/swansong/libswansong-core.la src/base/libbase.la

%C%_stress_percpu_tree_SOURCES  = %D%/stress.h %D%/stress-tree.c
%C%_stress_percpu_tree_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/unit/fixtures/swansong/percpu-nodes.h
%C%_stress_percpu_tree_CFLAGS   = $(AM_CFLAGS) -pthread
%C%_stress_percpu_tree_LDADD    = src/swansong/libswansong-core.la src/base/libbase.la

%C%_stress_loop_SOURCES = %D%/stress.h %D%/stress-loop.c
%C%_stress_loop_CFLAGS  = $(AM_CFLAGS) -pthread
%C%_stress_loop_LDADD   = src/swansong/libswansong-loops.la src/swansong/libswansong-core.la \
	src/base/libbase.la $(SYSTEMD_LIBS)
