if HAVE_CHECK
# Random trees take long, and begin first.
check_PROGRAMS += %D%/attach/test-attached-property %D%/count/test-percpu-property %D%/test-property
check_PROGRAMS += %D%/count/test-node
%C%_count_test_node_SOURCES = %D%/count/test-node.c
%C%_count_test_node_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_count_test_node_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/count/test-guard
%C%_count_test_guard_SOURCES = tests/unit/fixtures/swansong/pair.h %D%/count/test-guard.c
%C%_count_test_guard_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_count_test_guard_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/count/test-completion
%C%_count_test_completion_SOURCES = tests/unit/fixtures/swansong/pair.h %D%/count/test-completion.c
%C%_count_test_completion_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_count_test_completion_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/interrupt/test-interrupt
%C%_interrupt_test_interrupt_SOURCES = tests/unit/fixtures/swansong/pair.h %D%/interrupt/test-interrupt.c
%C%_interrupt_test_interrupt_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_interrupt_test_interrupt_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-faults
%C%_test_faults_SOURCES = tests/unit/fixtures/swansong/pair.h tests/unit/fixtures/swansong/caller.h \
	%D%/test-faults.c
%C%_test_faults_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_faults_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-races
%C%_test_races_SOURCES = tests/unit/fixtures/swansong/pair.h tests/unit/fixtures/swansong/caller.h \
	%D%/test-races.c
%C%_test_races_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_races_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

# The library of configure --enable-debug, which catches mistakes.
check_PROGRAMS += %D%/test-misuse
%C%_test_misuse_SOURCES = tests/unit/fixtures/swansong/pair.h tests/unit/fixtures/swansong/caller.h \
	%D%/test-misuse.c
%C%_test_misuse_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SYSTEMD_CFLAGS) -pthread
%C%_test_misuse_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-loops-debug.la src/swansong/libswansong-debug.la \
	src/base/libbase.la $(SYSTEMD_LIBS)

check_PROGRAMS += %D%/test-scale
%C%_test_scale_SOURCES = %D%/test-scale.c
%C%_test_scale_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_scale_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

# The library with its steps counted.
check_PROGRAMS += %D%/test-steps
%C%_test_steps_SOURCES  = tests/unit/fixtures/swansong/pair.h %D%/test-steps.c
%C%_test_steps_CPPFLAGS = $(STEPPED_CPPFLAGS)
%C%_test_steps_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_steps_LDADD    = tests/unit/fixtures/libtestmain.la tests/stress/libstepped.la \
	src/base/libbase.la

# The shared library itself, for its exports.
check_PROGRAMS += %D%/test-api
%C%_test_api_SOURCES = %D%/test-api.c
%C%_test_api_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_api_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-loop.la \
	src/swansong/libswansong.la

# The test plays an older Linux, too.
check_PROGRAMS += %D%/interrupt/test-io
%C%_interrupt_test_io_SOURCES = tests/unit/fixtures/swansong/pair.h tests/unit/fixtures/swansong/caller.h %D%/interrupt/test-io.c
%C%_interrupt_test_io_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_interrupt_test_io_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=preadv2,--wrap=pwritev2
%C%_interrupt_test_io_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-calls
%C%_test_calls_SOURCES = tests/unit/fixtures/swansong/pair.h tests/unit/fixtures/swansong/caller.h %D%/test-calls.c
%C%_test_calls_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_calls_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/end/test-registry
%C%_end_test_registry_SOURCES = %D%/end/test-registry.c
%C%_end_test_registry_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_end_test_registry_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/loop/test-loop
%C%_loop_test_loop_SOURCES = tests/unit/fixtures/swansong/loop.h %D%/loop/test-loop.c
%C%_loop_test_loop_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SYSTEMD_CFLAGS) -pthread
%C%_loop_test_loop_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-loops.la \
	src/swansong/libswansong-core.la src/base/libbase.la $(SYSTEMD_LIBS)

check_PROGRAMS += %D%/loop/test-loop-life
%C%_loop_test_loop_life_SOURCES = tests/unit/fixtures/refusing.h tests/unit/fixtures/refusing.c tests/unit/fixtures/swansong/loop.h \
	%D%/loop/test-loop-life.c
%C%_loop_test_loop_life_CFLAGS  = $(%C%_loop_test_loop_CFLAGS)
%C%_loop_test_loop_life_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_create,--wrap=gate_move
%C%_loop_test_loop_life_LDADD   = $(%C%_loop_test_loop_LDADD)

check_PROGRAMS += %D%/test-nofile
%C%_test_nofile_SOURCES = tests/unit/fixtures/swansong/loop.h %D%/test-nofile.c
%C%_test_nofile_CFLAGS  = $(%C%_loop_test_loop_CFLAGS)
%C%_test_nofile_LDADD   = $(%C%_loop_test_loop_LDADD)

check_PROGRAMS += %D%/test-syscalls
%C%_test_syscalls_SOURCES = tests/unit/fixtures/swansong/caller.h tests/unit/fixtures/swansong/loop.h \
	%D%/test-syscalls.c
%C%_test_syscalls_CFLAGS  = $(%C%_loop_test_loop_CFLAGS)
%C%_test_syscalls_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=eventfd,--wrap=eventfd_write,--wrap=syscall
%C%_test_syscalls_LDADD   = $(%C%_loop_test_loop_LDADD)

check_PROGRAMS += %D%/loop/test-pool
%C%_loop_test_pool_SOURCES = tests/unit/fixtures/refusing.h tests/unit/fixtures/refusing.c %D%/loop/test-pool.h \
	%D%/loop/test-pool.c %D%/loop/test-offload.c
%C%_loop_test_pool_CFLAGS  = $(%C%_loop_test_loop_CFLAGS)
%C%_loop_test_pool_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_create
%C%_loop_test_pool_LDADD   = $(%C%_loop_test_loop_LDADD)

check_PROGRAMS += %D%/end/test-report
%C%_end_test_report_SOURCES = tests/unit/fixtures/swansong/pair.h %D%/end/test-report.c
%C%_end_test_report_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_end_test_report_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-fork
%C%_test_fork_SOURCES = tests/unit/fixtures/swansong/pair.h tests/unit/fixtures/swansong/caller.h \
	%D%/test-fork.c
%C%_test_fork_CFLAGS  = $(%C%_loop_test_loop_CFLAGS)
%C%_test_fork_LDADD   = $(%C%_loop_test_loop_LDADD)

check_PROGRAMS += %D%/test-cancel %D%/test-cancel-waits
%C%_test_cancel_SOURCES = tests/unit/fixtures/swansong/pair.h tests/unit/fixtures/swansong/caller.h \
	%D%/test-cancel.c
%C%_test_cancel_CFLAGS  = $(%C%_loop_test_loop_CFLAGS)
%C%_test_cancel_LDADD   = $(%C%_loop_test_loop_LDADD)
%C%_test_cancel_waits_SOURCES = tests/unit/fixtures/swansong/pair.h tests/unit/fixtures/swansong/caller.h \
	%D%/test-cancel-waits.c
%C%_test_cancel_waits_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_cancel_waits_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/attach/test-stopper
%C%_attach_test_stopper_SOURCES = tests/unit/fixtures/swansong/pair.h %D%/attach/test-stopper.c
%C%_attach_test_stopper_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_attach_test_stopper_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-signal
%C%_test_signal_SOURCES = tests/unit/fixtures/swansong/pair.h %D%/test-signal.c
%C%_test_signal_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_signal_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

property_sources = tests/unit/fixtures/swansong/model.h tests/unit/fixtures/swansong/model.c %D%/test-property.c
%C%_test_property_SOURCES = $(property_sources)
%C%_test_property_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_property_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

# Nodes that count for each processor, and the tests of all nodes with such nodes.
check_PROGRAMS += %D%/count/test-percpu
%C%_count_test_percpu_SOURCES = tests/unit/fixtures/swansong/pair.h %D%/count/test-percpu.c
%C%_count_test_percpu_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_count_test_percpu_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

percpu_nodes = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/unit/fixtures/swansong/percpu-nodes.h
check_PROGRAMS += %D%/count/test-percpu-node
%C%_count_test_percpu_node_SOURCES  = tests/unit/fixtures/swansong/percpu-nodes.h %D%/count/test-node.c
%C%_count_test_percpu_node_CPPFLAGS = $(percpu_nodes)
%C%_count_test_percpu_node_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_count_test_percpu_node_LDADD    = $(%C%_count_test_percpu_LDADD)

check_PROGRAMS += %D%/count/test-percpu-guard
%C%_count_test_percpu_guard_SOURCES  = tests/unit/fixtures/swansong/percpu-nodes.h tests/unit/fixtures/swansong/pair.h %D%/count/test-guard.c
%C%_count_test_percpu_guard_CPPFLAGS = $(percpu_nodes)
%C%_count_test_percpu_guard_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_count_test_percpu_guard_LDADD    = $(%C%_count_test_percpu_LDADD)

check_PROGRAMS += %D%/count/test-percpu-completion
%C%_count_test_percpu_completion_SOURCES  = tests/unit/fixtures/swansong/percpu-nodes.h tests/unit/fixtures/swansong/pair.h %D%/count/test-completion.c
%C%_count_test_percpu_completion_CPPFLAGS = $(percpu_nodes)
%C%_count_test_percpu_completion_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_count_test_percpu_completion_LDADD    = $(%C%_count_test_percpu_LDADD)

check_PROGRAMS += %D%/count/test-percpu-interrupt
%C%_count_test_percpu_interrupt_SOURCES  = tests/unit/fixtures/swansong/percpu-nodes.h tests/unit/fixtures/swansong/pair.h %D%/interrupt/test-interrupt.c
%C%_count_test_percpu_interrupt_CPPFLAGS = $(percpu_nodes)
%C%_count_test_percpu_interrupt_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_count_test_percpu_interrupt_LDADD    = $(%C%_count_test_percpu_LDADD)

check_PROGRAMS += %D%/count/test-percpu-report
%C%_count_test_percpu_report_SOURCES  = tests/unit/fixtures/swansong/percpu-nodes.h tests/unit/fixtures/swansong/pair.h %D%/end/test-report.c
%C%_count_test_percpu_report_CPPFLAGS = $(percpu_nodes)
%C%_count_test_percpu_report_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_count_test_percpu_report_LDADD    = $(%C%_count_test_percpu_LDADD)

%C%_count_test_percpu_property_SOURCES  = tests/unit/fixtures/swansong/percpu-nodes.h $(property_sources)
%C%_count_test_percpu_property_CPPFLAGS = $(percpu_nodes)
%C%_count_test_percpu_property_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_count_test_percpu_property_LDADD    = $(%C%_count_test_percpu_LDADD)

attach_libraries = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-loops.la \
	src/swansong/libswansong-core.la src/base/libbase.la $(SYSTEMD_LIBS)
attached_pair = tests/unit/fixtures/swansong/attached-pair.h tests/unit/fixtures/fake-daemon.h tests/unit/fixtures/swansong/pair.h
check_PROGRAMS += %D%/attach/test-attach
%C%_attach_test_attach_SOURCES = $(attached_pair) %D%/attach/test-attach.c
%C%_attach_test_attach_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_attach_test_attach_LDADD   = $(attach_libraries)

check_PROGRAMS += %D%/attach/test-attach-page
%C%_attach_test_attach_page_SOURCES = $(attached_pair) %D%/attach/test-attach-page.c
%C%_attach_test_attach_page_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_attach_test_attach_page_LDADD   = $(attach_libraries)

check_PROGRAMS += %D%/attach/test-attach-process
%C%_attach_test_attach_process_SOURCES = tests/unit/fixtures/fake-daemon.h \
	%D%/attach/test-attach-process.c
%C%_attach_test_attach_process_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_attach_test_attach_process_LDADD   = $(attach_libraries)

# The tests of nodes, with roots that are attached.
attached_nodes = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/unit/fixtures/swansong/attached-nodes.h
check_PROGRAMS += %D%/attach/test-attached-node
%C%_attach_test_attached_node_SOURCES  = tests/unit/fixtures/swansong/attached-nodes.h tests/unit/fixtures/fake-daemon.h %D%/count/test-node.c
%C%_attach_test_attached_node_CPPFLAGS = $(attached_nodes)
%C%_attach_test_attached_node_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_attach_test_attached_node_LDADD    = $(attach_libraries)

check_PROGRAMS += %D%/attach/test-attached-guard
%C%_attach_test_attached_guard_SOURCES  = tests/unit/fixtures/swansong/attached-nodes.h tests/unit/fixtures/fake-daemon.h tests/unit/fixtures/swansong/pair.h %D%/count/test-guard.c
%C%_attach_test_attached_guard_CPPFLAGS = $(attached_nodes)
%C%_attach_test_attached_guard_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_attach_test_attached_guard_LDADD    = $(attach_libraries)

check_PROGRAMS += %D%/attach/test-attached-completion
%C%_attach_test_attached_completion_SOURCES  = tests/unit/fixtures/swansong/attached-nodes.h tests/unit/fixtures/fake-daemon.h tests/unit/fixtures/swansong/pair.h %D%/count/test-completion.c
%C%_attach_test_attached_completion_CPPFLAGS = $(attached_nodes)
%C%_attach_test_attached_completion_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_attach_test_attached_completion_LDADD    = $(attach_libraries)

check_PROGRAMS += %D%/attach/test-attached-interrupt
%C%_attach_test_attached_interrupt_SOURCES  = tests/unit/fixtures/swansong/attached-nodes.h tests/unit/fixtures/fake-daemon.h tests/unit/fixtures/swansong/pair.h %D%/interrupt/test-interrupt.c
%C%_attach_test_attached_interrupt_CPPFLAGS = $(attached_nodes)
%C%_attach_test_attached_interrupt_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_attach_test_attached_interrupt_LDADD    = $(attach_libraries)

check_PROGRAMS += %D%/attach/test-attached-report
%C%_attach_test_attached_report_SOURCES  = tests/unit/fixtures/swansong/attached-nodes.h tests/unit/fixtures/fake-daemon.h tests/unit/fixtures/swansong/pair.h %D%/end/test-report.c
%C%_attach_test_attached_report_CPPFLAGS = $(attached_nodes)
%C%_attach_test_attached_report_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_attach_test_attached_report_LDADD    = $(attach_libraries)

%C%_attach_test_attached_property_SOURCES  = tests/unit/fixtures/swansong/attached-nodes.h tests/unit/fixtures/fake-daemon.h $(property_sources)
%C%_attach_test_attached_property_CPPFLAGS = $(attached_nodes)
%C%_attach_test_attached_property_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_attach_test_attached_property_LDADD    = $(attach_libraries)

# Their own allocator, too.
nomem_counted_sources = tests/unit/fixtures/nomem.h tests/unit/fixtures/nomem-counted.h tests/unit/fixtures/nomem-counted.c
nomem_counted_ldflags = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=reallocarray,--wrap=aligned_alloc,--wrap=posix_memalign,--wrap=free \
	-Wl,--wrap=fopencookie,--wrap=sd_event_new,--wrap=sd_event_add_io
check_PROGRAMS += %D%/test-nomem
%C%_test_nomem_SOURCES = tests/unit/fixtures/swansong/pair.h tests/unit/fixtures/fake-daemon.h %D%/test-nomem.h \
	%D%/test-nomem.c %D%/test-nomem-use.c $(nomem_counted_sources)
%C%_test_nomem_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SYSTEMD_CFLAGS) -pthread
%C%_test_nomem_LDFLAGS = $(nomem_counted_ldflags)
%C%_test_nomem_LDADD   = tests/unit/fixtures/libtestmain.la src/swansong/libswansong-loops.la \
	src/swansong/libswansong-core.la src/base/libbase.la $(SYSTEMD_LIBS)
endif
