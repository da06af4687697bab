# A unit test links its own layer and what is below it, nothing else.
if HAVE_CHECK
check_LTLIBRARIES += %D%/libtestmain.la
%C%_libtestmain_la_SOURCES = %D%/main.h %D%/main.c
%C%_libtestmain_la_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_libtestmain_la_LIBADD  = $(CHECK_LIBS)

check_PROGRAMS += %D%/test-ctl
%C%_test_ctl_SOURCES = %D%/test-ctl.h %D%/test-ctl-fixture.c %D%/test-ctl.c \
	%D%/test-ctl-report.c %D%/test-ctl-reload.c %D%/test-ctl-shutdown.c %D%/test-ctl-guard.c \
	%D%/test-ctl-hostile.c %D%/test-ctl-interrupt.c %D%/test-ctl-plan.c
%C%_test_ctl_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_ctl_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=posix_spawnp
%C%_test_ctl_LDADD   = %D%/libtestmain.la src/ctl/libctl.la src/proto/libproto.la \
	src/model/libmodel.la src/sys/libsys.la src/base/libbase.la $(JANSSON_LIBS)

check_PROGRAMS += %D%/test-base
%C%_test_base_SOURCES = %D%/test-base.c
%C%_test_base_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_base_LDADD   = %D%/libtestmain.la src/base/libbase.la

check_PROGRAMS += %D%/test-memstream
%C%_test_memstream_SOURCES = %D%/nomem.h %D%/test-memstream.c
%C%_test_memstream_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
# Its own allocator, which can be made to fail.
%C%_test_memstream_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=realloc,--wrap=fopencookie
%C%_test_memstream_LDADD   = %D%/libtestmain.la src/base/libbase.la

check_PROGRAMS += %D%/test-swansong-node
%C%_test_swansong_node_SOURCES = %D%/test-swansong-node.c
%C%_test_swansong_node_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_node_LDADD   = %D%/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-swansong-guard
%C%_test_swansong_guard_SOURCES = %D%/swansong-pair.h %D%/test-swansong-guard.c
%C%_test_swansong_guard_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_guard_LDADD   = %D%/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-swansong-completion
%C%_test_swansong_completion_SOURCES = %D%/swansong-pair.h %D%/test-swansong-completion.c
%C%_test_swansong_completion_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_completion_LDADD   = %D%/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-swansong-interrupt
%C%_test_swansong_interrupt_SOURCES = %D%/swansong-pair.h %D%/test-swansong-interrupt.c
%C%_test_swansong_interrupt_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_interrupt_LDADD   = %D%/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-swansong-faults
%C%_test_swansong_faults_SOURCES = %D%/swansong-pair.h %D%/swansong-caller.h \
	%D%/test-swansong-faults.c
%C%_test_swansong_faults_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_faults_LDADD   = %D%/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-swansong-races
%C%_test_swansong_races_SOURCES = %D%/swansong-pair.h %D%/swansong-caller.h \
	%D%/test-swansong-races.c
%C%_test_swansong_races_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_races_LDADD   = %D%/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

# The library that catches mistakes.
check_PROGRAMS += %D%/test-swansong-misuse
%C%_test_swansong_misuse_SOURCES = %D%/swansong-pair.h %D%/swansong-caller.h \
	%D%/test-swansong-misuse.c
%C%_test_swansong_misuse_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SYSTEMD_CFLAGS) -pthread
%C%_test_swansong_misuse_LDADD   = %D%/libtestmain.la src/swansong/libswansong-debug.la \
	src/base/libbase.la $(SYSTEMD_LIBS)

check_PROGRAMS += %D%/test-swansong-scale
%C%_test_swansong_scale_SOURCES = %D%/test-swansong-scale.c
%C%_test_swansong_scale_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_scale_LDADD   = %D%/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

# The library with its steps counted.
check_PROGRAMS += %D%/test-swansong-steps
%C%_test_swansong_steps_SOURCES  = %D%/swansong-pair.h %D%/test-swansong-steps.c
%C%_test_swansong_steps_CPPFLAGS = $(STEPPED_CPPFLAGS)
%C%_test_swansong_steps_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_steps_LDADD    = %D%/libtestmain.la tests/stress/libstepped.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-frame %D%/test-proto
%C%_test_frame_SOURCES = %D%/test-frame.c
%C%_test_frame_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_frame_LDADD   = %D%/libtestmain.la src/proto/libproto.la src/base/libbase.la
%C%_test_proto_SOURCES = %D%/test-proto.h %D%/test-proto.c \
	%D%/test-proto-interface.c %D%/test-proto-view.c %D%/test-proto-columns.c \
	%D%/test-proto-mutated.c
%C%_test_proto_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_proto_LDADD   = %D%/libtestmain.la src/proto/libproto.la src/base/libbase.la $(JANSSON_LIBS)
check_PROGRAMS += %D%/test-diag
%C%_test_diag_SOURCES = %D%/test-diag.c
%C%_test_diag_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_diag_LDADD   = %D%/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/test-reader
%C%_test_reader_SOURCES = %D%/test-reader.c
%C%_test_reader_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(INIH_CFLAGS)
# Other builds of inih.
%C%_test_reader_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=ini_parse_stream
%C%_test_reader_LDADD   = %D%/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/test-graph
%C%_test_graph_SOURCES = %D%/test-graph.c
%C%_test_graph_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_graph_LDADD   = %D%/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/test-forecast
%C%_test_forecast_SOURCES = %D%/config-of.h %D%/config-of.c %D%/test-forecast.c \
	$(nomem_sources)
%C%_test_forecast_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_forecast_LDFLAGS = $(nomem_ldflags)
%C%_test_forecast_LDADD   = %D%/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/test-template
%C%_test_template_SOURCES = %D%/test-template.c
%C%_test_template_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_template_LDADD   = %D%/libtestmain.la src/model/libmodel.la src/base/libbase.la \
	$(CHECK_LIBS)

# Their own allocator, which can be made to fail.
nomem_sources = %D%/nomem.h %D%/nomem.c
nomem_ldflags = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=reallocarray,--wrap=strdup,--wrap=strndup,--wrap=tsearch,--wrap=fopencookie

check_PROGRAMS += %D%/test-config
%C%_test_config_SOURCES = %D%/scratch.h %D%/scratch.c %D%/test-config.h %D%/test-config-fixture.c \
	%D%/test-config.c %D%/test-config-values.c %D%/test-config-attributes.c \
	%D%/test-config-bad.c %D%/test-config-command.c %D%/test-config-equal.c \
	%D%/test-config-trouble.c $(nomem_sources)
%C%_test_config_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_config_LDFLAGS = $(nomem_ldflags)
%C%_test_config_LDADD   = %D%/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/test-diff
%C%_test_diff_SOURCES = %D%/config-of.h %D%/config-of.c %D%/test-diff.c
%C%_test_diff_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_diff_LDADD   = %D%/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/test-environment
%C%_test_environment_SOURCES = %D%/scratch.h %D%/scratch.c %D%/test-environment.c
%C%_test_environment_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_environment_LDADD   = %D%/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/test-budget
%C%_test_budget_SOURCES = %D%/test-budget.c
%C%_test_budget_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_budget_LDADD   = %D%/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/test-fsm %D%/test-policy %D%/test-result
%C%_test_fsm_SOURCES = %D%/test-fsm.c
%C%_test_fsm_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_fsm_LDADD   = %D%/libtestmain.la src/model/libmodel.la src/base/libbase.la
%C%_test_policy_SOURCES = %D%/test-policy.c
%C%_test_policy_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_policy_LDADD   = %D%/libtestmain.la src/model/libmodel.la src/base/libbase.la
%C%_test_result_SOURCES = %D%/test-result.c
%C%_test_result_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_result_LDADD   = %D%/libtestmain.la src/model/libmodel.la src/base/libbase.la

check_PROGRAMS += %D%/test-spawn
%C%_test_spawn_SOURCES = %D%/spawned.h %D%/spawned.c %D%/test-spawn.h %D%/test-spawn.c \
	%D%/test-spawn-files.c %D%/test-spawn-terminal.c %D%/test-spawn-failure.c
%C%_test_spawn_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_spawn_LDADD   = %D%/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/test-spawn-attributes
%C%_test_spawn_attributes_SOURCES = %D%/spawned.h %D%/spawned.c %D%/test-spawn-attributes.c
%C%_test_spawn_attributes_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_spawn_attributes_LDADD   = %D%/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/test-children
%C%_test_children_SOURCES = %D%/test-children.c
%C%_test_children_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_children_LDADD   = %D%/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/test-spawn-user %D%/test-sys
%C%_test_spawn_user_SOURCES = %D%/spawned.h %D%/spawned.c %D%/test-spawn-user.c
%C%_test_spawn_user_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_spawn_user_LDADD   = %D%/libtestmain.la src/sys/libsys.la src/base/libbase.la
%C%_test_sys_SOURCES = %D%/test-sys.c
%C%_test_sys_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
# What happens between two readings of a file.
%C%_test_sys_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=read
%C%_test_sys_LDADD   = %D%/libtestmain.la src/sys/libsys.la src/base/libbase.la

# What stands in front of one command.
check_PROGRAMS += %D%/test-command
%C%_test_command_SOURCES = %D%/test-command.c
%C%_test_command_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_command_LDADD   = %D%/libtestmain.la src/sys/libsys.la src/base/libbase.la
check_PROGRAMS += %D%/test-cgroup %D%/test-cgroup-kernel
%C%_test_cgroup_SOURCES = %D%/spawned.h %D%/spawned.c %D%/test-cgroup.c
%C%_test_cgroup_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_cgroup_LDADD   = %D%/libtestmain.la src/sys/libsys.la src/base/libbase.la
%C%_test_cgroup_kernel_SOURCES = %D%/spawned.h %D%/spawned.c %D%/test-cgroup-kernel.c
%C%_test_cgroup_kernel_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_cgroup_kernel_LDADD   = %D%/libtestmain.la src/sys/libsys.la src/base/libbase.la

# The shared library itself, for what it exports.
check_PROGRAMS += %D%/test-api
%C%_test_api_SOURCES = %D%/test-api.c
%C%_test_api_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_api_LDADD   = %D%/libtestmain.la src/swansong/libswansong.la
check_PROGRAMS += %D%/test-unixsock
%C%_test_unixsock_SOURCES = %D%/spawned.h %D%/spawned.c %D%/test-unixsock.c
%C%_test_unixsock_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_unixsock_LDADD   = %D%/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/test-unix-message
%C%_test_unix_message_SOURCES = %D%/spawned.h %D%/spawned.c %D%/test-unix-message.c
%C%_test_unix_message_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_unix_message_LDADD   = %D%/libtestmain.la src/sys/libsys.la src/base/libbase.la

# A tree of which nothing runs.
tree_world_sources = %D%/config-of.h %D%/config-of.c %D%/tree-world.h %D%/tree-world.c

check_PROGRAMS += %D%/test-daemon-notify %D%/test-daemon-tree
%C%_test_daemon_notify_SOURCES = %D%/test-daemon-notify.c
%C%_test_daemon_notify_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SYSTEMD_CFLAGS)
%C%_test_daemon_notify_LDADD   = %D%/libtestmain.la src/daemon/libdaemon.la src/proto/libproto.la \
	src/model/libmodel.la src/sys/libsys.la src/swansong/libswansong-core.la src/base/libbase.la
%C%_test_daemon_tree_SOURCES = %D%/test-daemon-tree.c $(tree_world_sources)
%C%_test_daemon_tree_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_daemon_tree_LDADD   = $(%C%_test_daemon_notify_LDADD)

check_PROGRAMS += %D%/test-daemon-lease
%C%_test_daemon_lease_SOURCES = %D%/test-daemon-lease.h %D%/test-daemon-lease.c \
	%D%/test-daemon-lease-fd.c $(tree_world_sources)
%C%_test_daemon_lease_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SYSTEMD_CFLAGS)
%C%_test_daemon_lease_LDADD   = $(%C%_test_daemon_notify_LDADD)

check_PROGRAMS += %D%/test-daemon-output
%C%_test_daemon_output_SOURCES = %D%/test-daemon-output.c
%C%_test_daemon_output_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SYSTEMD_CFLAGS)
%C%_test_daemon_output_LDADD   = $(%C%_test_daemon_notify_LDADD)

check_PROGRAMS += %D%/test-daemon-http
%C%_test_daemon_http_SOURCES = %D%/test-daemon-http.c
%C%_test_daemon_http_CFLAGS  = $(%C%_test_daemon_notify_CFLAGS)
%C%_test_daemon_http_LDADD   = $(%C%_test_daemon_notify_LDADD)

check_PROGRAMS += %D%/test-daemon-relay
%C%_test_daemon_relay_SOURCES = %D%/test-daemon-relay.c
%C%_test_daemon_relay_CFLAGS  = $(%C%_test_daemon_notify_CFLAGS)
%C%_test_daemon_relay_LDADD   = $(%C%_test_daemon_notify_LDADD)

check_PROGRAMS += %D%/test-daemon-attach
%C%_test_daemon_attach_SOURCES = %D%/test-daemon-attach.c
%C%_test_daemon_attach_CFLAGS  = $(%C%_test_daemon_notify_CFLAGS)
%C%_test_daemon_attach_LDADD   = $(%C%_test_daemon_notify_LDADD)

check_PROGRAMS += %D%/test-daemon-activation
%C%_test_daemon_activation_SOURCES = %D%/test-daemon-activation.c
%C%_test_daemon_activation_CFLAGS  = $(%C%_test_daemon_notify_CFLAGS)
%C%_test_daemon_activation_LDADD   = $(%C%_test_daemon_notify_LDADD)

check_PROGRAMS += %D%/test-ids
%C%_test_ids_SOURCES = %D%/test-ids.c
%C%_test_ids_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_ids_LDADD   = %D%/libtestmain.la src/sys/libsys.la src/base/libbase.la

# The daemon without processes.
check_PROGRAMS += %D%/test-daemon-stop
%C%_test_daemon_stop_SOURCES = %D%/stated-tree.h %D%/stated-tree.c %D%/test-daemon-stop.c \
	%D%/test-daemon-retired.c %D%/test-daemon-restart.c $(tree_world_sources)
%C%_test_daemon_stop_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_daemon_stop_LDADD   = %D%/libtestmain.la src/daemon/libdaemon.la src/proto/libproto.la \
	src/model/libmodel.la src/sys/libsys.la src/swansong/libswansong-core.la src/base/libbase.la

check_PROGRAMS += %D%/test-daemon-alarm
%C%_test_daemon_alarm_SOURCES = %D%/test-daemon-alarm.c
%C%_test_daemon_alarm_CFLAGS  = $(%C%_test_daemon_stop_CFLAGS)
%C%_test_daemon_alarm_LDADD   = $(%C%_test_daemon_stop_LDADD)

check_PROGRAMS += %D%/test-daemon-events
%C%_test_daemon_events_SOURCES = %D%/test-daemon-events.c
%C%_test_daemon_events_CFLAGS  = $(%C%_test_daemon_stop_CFLAGS)
%C%_test_daemon_events_LDADD   = $(%C%_test_daemon_stop_LDADD)

check_PROGRAMS += %D%/test-daemon-trace
%C%_test_daemon_trace_SOURCES = %D%/test-daemon-trace.c
%C%_test_daemon_trace_CFLAGS  = $(%C%_test_daemon_stop_CFLAGS)
%C%_test_daemon_trace_LDADD   = $(%C%_test_daemon_stop_LDADD)

check_PROGRAMS += %D%/test-daemon-reload
%C%_test_daemon_reload_SOURCES = %D%/reloaded-tree.h %D%/reloaded-tree.c %D%/test-daemon-reload.c \
	%D%/test-daemon-reload-order.c %D%/test-daemon-reload-walk.c $(tree_world_sources)
%C%_test_daemon_reload_CFLAGS  = $(%C%_test_daemon_stop_CFLAGS)
%C%_test_daemon_reload_LDADD   = $(%C%_test_daemon_stop_LDADD) $(JANSSON_LIBS)

check_PROGRAMS += %D%/test-daemon-budgets
%C%_test_daemon_budgets_SOURCES = %D%/timed-tree.h %D%/timed-tree.c %D%/test-daemon-budgets.c \
	%D%/test-daemon-busy.c $(tree_world_sources)
%C%_test_daemon_budgets_CFLAGS  = $(%C%_test_daemon_stop_CFLAGS)
%C%_test_daemon_budgets_LDADD   = $(%C%_test_daemon_stop_LDADD)

check_PROGRAMS += %D%/test-daemon-nomem
%C%_test_daemon_nomem_SOURCES = %D%/test-daemon-nomem.c $(nomem_sources) $(tree_world_sources)
%C%_test_daemon_nomem_CFLAGS  = $(%C%_test_daemon_stop_CFLAGS)
%C%_test_daemon_nomem_LDFLAGS = $(nomem_ldflags)
%C%_test_daemon_nomem_LDADD   = $(%C%_test_daemon_stop_LDADD)

check_PROGRAMS += %D%/test-unix-sender
%C%_test_unix_sender_SOURCES = %D%/test-unix-sender.c
%C%_test_unix_sender_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_unix_sender_LDADD   = %D%/libtestmain.la src/sys/libsys.la src/base/libbase.la

# An older Linux.
check_PROGRAMS += %D%/test-swansong-io
%C%_test_swansong_io_SOURCES = %D%/swansong-pair.h %D%/swansong-caller.h %D%/test-swansong-io.c
%C%_test_swansong_io_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_io_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=preadv2,--wrap=pwritev2
%C%_test_swansong_io_LDADD   = %D%/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-swansong-calls
%C%_test_swansong_calls_SOURCES = %D%/swansong-pair.h %D%/swansong-caller.h %D%/test-swansong-calls.c
%C%_test_swansong_calls_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_calls_LDADD   = %D%/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-swansong-registry
%C%_test_swansong_registry_SOURCES = %D%/test-swansong-registry.c
%C%_test_swansong_registry_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_registry_LDADD   = %D%/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

check_PROGRAMS += %D%/test-swansong-loop
%C%_test_swansong_loop_SOURCES = %D%/swansong-loop.h %D%/test-swansong-loop.c
%C%_test_swansong_loop_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SYSTEMD_CFLAGS) -pthread
%C%_test_swansong_loop_LDADD   = %D%/libtestmain.la src/swansong/libswansong-loop.la \
	src/swansong/libswansong-core.la src/base/libbase.la $(SYSTEMD_LIBS)

check_PROGRAMS += %D%/test-swansong-loop-life
%C%_test_swansong_loop_life_SOURCES = %D%/refusing.h %D%/refusing.c %D%/swansong-loop.h \
	%D%/test-swansong-loop-life.c
%C%_test_swansong_loop_life_CFLAGS  = $(%C%_test_swansong_loop_CFLAGS)
%C%_test_swansong_loop_life_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_create,--wrap=gate_move
%C%_test_swansong_loop_life_LDADD   = $(%C%_test_swansong_loop_LDADD)

check_PROGRAMS += %D%/test-swansong-nofile
%C%_test_swansong_nofile_SOURCES = %D%/swansong-loop.h %D%/test-swansong-nofile.c
%C%_test_swansong_nofile_CFLAGS  = $(%C%_test_swansong_loop_CFLAGS)
%C%_test_swansong_nofile_LDADD   = $(%C%_test_swansong_loop_LDADD)

check_PROGRAMS += %D%/test-swansong-syscalls
%C%_test_swansong_syscalls_SOURCES = %D%/swansong-caller.h %D%/swansong-loop.h \
	%D%/test-swansong-syscalls.c
%C%_test_swansong_syscalls_CFLAGS  = $(%C%_test_swansong_loop_CFLAGS)
%C%_test_swansong_syscalls_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=eventfd,--wrap=eventfd_write,--wrap=syscall
%C%_test_swansong_syscalls_LDADD   = $(%C%_test_swansong_loop_LDADD)

check_PROGRAMS += %D%/test-swansong-pool
%C%_test_swansong_pool_SOURCES = %D%/refusing.h %D%/refusing.c %D%/test-swansong-pool.h \
	%D%/test-swansong-pool.c %D%/test-swansong-offload.c
%C%_test_swansong_pool_CFLAGS  = $(%C%_test_swansong_loop_CFLAGS)
%C%_test_swansong_pool_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_create
%C%_test_swansong_pool_LDADD   = $(%C%_test_swansong_loop_LDADD)

check_PROGRAMS += %D%/test-swansong-report
%C%_test_swansong_report_SOURCES = %D%/swansong-pair.h %D%/test-swansong-report.c
%C%_test_swansong_report_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_report_LDADD   = %D%/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

property_sources = %D%/swansong-model.h %D%/swansong-model.c %D%/test-swansong-property.c
check_PROGRAMS += %D%/test-swansong-property
%C%_test_swansong_property_SOURCES = $(property_sources)
%C%_test_swansong_property_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_property_LDADD   = %D%/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

# Nodes that count for each processor, and what all nodes have to do, done by such nodes.
check_PROGRAMS += %D%/test-swansong-percpu
%C%_test_swansong_percpu_SOURCES = %D%/swansong-pair.h %D%/test-swansong-percpu.c
%C%_test_swansong_percpu_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_percpu_LDADD   = %D%/libtestmain.la src/swansong/libswansong-core.la \
	src/base/libbase.la

percpu_nodes = $(AM_CPPFLAGS) -include $(top_srcdir)/%D%/percpu-nodes.h
check_PROGRAMS += %D%/test-swansong-percpu-node
%C%_test_swansong_percpu_node_SOURCES  = %D%/percpu-nodes.h %D%/test-swansong-node.c
%C%_test_swansong_percpu_node_CPPFLAGS = $(percpu_nodes)
%C%_test_swansong_percpu_node_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_percpu_node_LDADD    = $(%C%_test_swansong_percpu_LDADD)
check_PROGRAMS += %D%/test-swansong-percpu-guard
%C%_test_swansong_percpu_guard_SOURCES  = %D%/percpu-nodes.h %D%/swansong-pair.h %D%/test-swansong-guard.c
%C%_test_swansong_percpu_guard_CPPFLAGS = $(percpu_nodes)
%C%_test_swansong_percpu_guard_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_percpu_guard_LDADD    = $(%C%_test_swansong_percpu_LDADD)
check_PROGRAMS += %D%/test-swansong-percpu-completion
%C%_test_swansong_percpu_completion_SOURCES  = %D%/percpu-nodes.h %D%/swansong-pair.h %D%/test-swansong-completion.c
%C%_test_swansong_percpu_completion_CPPFLAGS = $(percpu_nodes)
%C%_test_swansong_percpu_completion_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_percpu_completion_LDADD    = $(%C%_test_swansong_percpu_LDADD)
check_PROGRAMS += %D%/test-swansong-percpu-interrupt
%C%_test_swansong_percpu_interrupt_SOURCES  = %D%/percpu-nodes.h %D%/swansong-pair.h %D%/test-swansong-interrupt.c
%C%_test_swansong_percpu_interrupt_CPPFLAGS = $(percpu_nodes)
%C%_test_swansong_percpu_interrupt_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_percpu_interrupt_LDADD    = $(%C%_test_swansong_percpu_LDADD)
check_PROGRAMS += %D%/test-swansong-percpu-report
%C%_test_swansong_percpu_report_SOURCES  = %D%/percpu-nodes.h %D%/swansong-pair.h %D%/test-swansong-report.c
%C%_test_swansong_percpu_report_CPPFLAGS = $(percpu_nodes)
%C%_test_swansong_percpu_report_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_percpu_report_LDADD    = $(%C%_test_swansong_percpu_LDADD)
check_PROGRAMS += %D%/test-swansong-percpu-property
%C%_test_swansong_percpu_property_SOURCES  = %D%/percpu-nodes.h $(property_sources)
%C%_test_swansong_percpu_property_CPPFLAGS = $(percpu_nodes)
%C%_test_swansong_percpu_property_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_percpu_property_LDADD    = $(%C%_test_swansong_percpu_LDADD)

check_PROGRAMS += %D%/test-swansong-attach %D%/test-swansong-attach-page %D%/test-swansong-attach-process
attach_libraries = %D%/libtestmain.la src/swansong/libswansong-loop.la \
	src/swansong/libswansong-core.la src/base/libbase.la $(SYSTEMD_LIBS)
attached_pair = %D%/attached-pair.h %D%/fake-daemon.h %D%/swansong-pair.h
%C%_test_swansong_attach_SOURCES = $(attached_pair) %D%/test-swansong-attach.c
%C%_test_swansong_attach_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_attach_LDADD   = $(attach_libraries)
%C%_test_swansong_attach_page_SOURCES = $(attached_pair) %D%/test-swansong-attach-page.c
%C%_test_swansong_attach_page_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_attach_page_LDADD   = $(attach_libraries)
%C%_test_swansong_attach_process_SOURCES = %D%/fake-daemon.h \
	%D%/test-swansong-attach-process.c
%C%_test_swansong_attach_process_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_attach_process_LDADD   = $(attach_libraries)

# The tests of what nodes do, with roots that are attached.
attached_nodes = $(AM_CPPFLAGS) -include $(top_srcdir)/%D%/attached-nodes.h
check_PROGRAMS += %D%/test-swansong-attached-node
%C%_test_swansong_attached_node_SOURCES  = %D%/attached-nodes.h %D%/fake-daemon.h %D%/test-swansong-node.c
%C%_test_swansong_attached_node_CPPFLAGS = $(attached_nodes)
%C%_test_swansong_attached_node_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_attached_node_LDADD    = $(attach_libraries)
check_PROGRAMS += %D%/test-swansong-attached-guard
%C%_test_swansong_attached_guard_SOURCES  = %D%/attached-nodes.h %D%/fake-daemon.h %D%/swansong-pair.h %D%/test-swansong-guard.c
%C%_test_swansong_attached_guard_CPPFLAGS = $(attached_nodes)
%C%_test_swansong_attached_guard_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_attached_guard_LDADD    = $(attach_libraries)
check_PROGRAMS += %D%/test-swansong-attached-completion
%C%_test_swansong_attached_completion_SOURCES  = %D%/attached-nodes.h %D%/fake-daemon.h %D%/swansong-pair.h %D%/test-swansong-completion.c
%C%_test_swansong_attached_completion_CPPFLAGS = $(attached_nodes)
%C%_test_swansong_attached_completion_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_attached_completion_LDADD    = $(attach_libraries)
check_PROGRAMS += %D%/test-swansong-attached-interrupt
%C%_test_swansong_attached_interrupt_SOURCES  = %D%/attached-nodes.h %D%/fake-daemon.h %D%/swansong-pair.h %D%/test-swansong-interrupt.c
%C%_test_swansong_attached_interrupt_CPPFLAGS = $(attached_nodes)
%C%_test_swansong_attached_interrupt_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_attached_interrupt_LDADD    = $(attach_libraries)
check_PROGRAMS += %D%/test-swansong-attached-report
%C%_test_swansong_attached_report_SOURCES  = %D%/attached-nodes.h %D%/fake-daemon.h %D%/swansong-pair.h %D%/test-swansong-report.c
%C%_test_swansong_attached_report_CPPFLAGS = $(attached_nodes)
%C%_test_swansong_attached_report_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_attached_report_LDADD    = $(attach_libraries)
check_PROGRAMS += %D%/test-swansong-attached-property
%C%_test_swansong_attached_property_SOURCES  = %D%/attached-nodes.h %D%/fake-daemon.h $(property_sources)
%C%_test_swansong_attached_property_CPPFLAGS = $(attached_nodes)
%C%_test_swansong_attached_property_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
%C%_test_swansong_attached_property_LDADD    = $(attach_libraries)

# Their own allocator, too.
nomem_counted_sources = %D%/nomem.h %D%/nomem-counted.h %D%/nomem-counted.c
nomem_counted_ldflags = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=reallocarray,--wrap=aligned_alloc,--wrap=posix_memalign,--wrap=free \
	-Wl,--wrap=fopencookie,--wrap=sd_event_new,--wrap=sd_event_add_io

check_PROGRAMS += %D%/test-swansong-nomem
%C%_test_swansong_nomem_SOURCES = %D%/swansong-pair.h %D%/fake-daemon.h %D%/test-swansong-nomem.h \
	%D%/test-swansong-nomem.c %D%/test-swansong-nomem-use.c $(nomem_counted_sources)
%C%_test_swansong_nomem_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SYSTEMD_CFLAGS) -pthread
%C%_test_swansong_nomem_LDFLAGS = $(nomem_counted_ldflags)
%C%_test_swansong_nomem_LDADD   = %D%/libtestmain.la src/swansong/libswansong-loop.la \
	src/swansong/libswansong-core.la src/base/libbase.la $(SYSTEMD_LIBS)
endif
