if HAVE_CHECK
daemon_cflags    = $(AM_CFLAGS) $(CHECK_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS)
daemon_libraries = tests/unit/fixtures/libtestmain.la src/daemon/libdaemon.la src/proto/libproto.la \
	src/model/libmodel.la src/sys/libsys.la src/swansong/libswansong-core.la src/base/libbase.la \
	$(JANSSON_LIBS)

check_PROGRAMS += %D%/loop/test-alarm
%C%_loop_test_alarm_SOURCES = %D%/loop/test-alarm.c
%C%_loop_test_alarm_CFLAGS  = $(daemon_cflags)
%C%_loop_test_alarm_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/loop/test-disabled
%C%_loop_test_disabled_SOURCES = tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c \
	%D%/loop/test-disabled.c
%C%_loop_test_disabled_CFLAGS  = $(daemon_cflags)
%C%_loop_test_disabled_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/loop/test-events
%C%_loop_test_events_SOURCES = %D%/loop/test-events.c
%C%_loop_test_events_CFLAGS  = $(daemon_cflags)
%C%_loop_test_events_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/loop/test-process
%C%_loop_test_process_SOURCES = %D%/loop/test-process.c
%C%_loop_test_process_CFLAGS  = $(daemon_cflags)
%C%_loop_test_process_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/loop/test-context
%C%_loop_test_context_SOURCES = %D%/loop/test-context.c $(nomem_sources)
%C%_loop_test_context_CFLAGS  = $(daemon_cflags)
%C%_loop_test_context_LDFLAGS = $(nomem_ldflags)
%C%_loop_test_context_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/loop/test-roster
%C%_loop_test_roster_SOURCES = %D%/loop/test-roster.c
%C%_loop_test_roster_CFLAGS  = $(daemon_cflags)
%C%_loop_test_roster_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/loop/test-trace
%C%_loop_test_trace_SOURCES = %D%/loop/test-trace.c
%C%_loop_test_trace_CFLAGS  = $(daemon_cflags)
%C%_loop_test_trace_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/logger/test-rules
%C%_logger_test_rules_SOURCES = %D%/logger/test-rules.c \
	tests/unit/fixtures/config-of.h tests/unit/fixtures/config-of.c
%C%_logger_test_rules_CFLAGS  = $(daemon_cflags)
%C%_logger_test_rules_LDADD   = $(daemon_libraries)


check_PROGRAMS += %D%/streams/test-activation
%C%_streams_test_activation_SOURCES = %D%/streams/test-activation.c
%C%_streams_test_activation_CFLAGS  = $(daemon_cflags)
%C%_streams_test_activation_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/notify/test-notify
%C%_notify_test_notify_SOURCES = %D%/notify/test-notify.c
%C%_notify_test_notify_CFLAGS  = $(daemon_cflags)
%C%_notify_test_notify_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/notify/test-flood
%C%_notify_test_flood_SOURCES = %D%/notify/test-flood.c
%C%_notify_test_flood_CFLAGS  = $(daemon_cflags)
%C%_notify_test_flood_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/notify/test-directory
%C%_notify_test_directory_SOURCES = %D%/notify/test-directory.c \
	tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c
%C%_notify_test_directory_CFLAGS  = $(daemon_cflags)
%C%_notify_test_directory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=address_directory
%C%_notify_test_directory_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/probe/test-http
%C%_probe_test_http_SOURCES = %D%/probe/test-http.c
%C%_probe_test_http_CFLAGS  = $(daemon_cflags)
%C%_probe_test_http_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/main/test-fault
%C%_main_test_fault_SOURCES = %D%/main/test-fault.c
%C%_main_test_fault_CFLAGS  = $(daemon_cflags)
%C%_main_test_fault_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=crash_arm
%C%_main_test_fault_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/main/test-daemon
%C%_main_test_daemon_SOURCES = %D%/main/test-daemon.c tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c
%C%_main_test_daemon_CFLAGS  = $(daemon_cflags)
%C%_main_test_daemon_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fault_begin,--wrap=cgroups_new \
	-Wl,--wrap=logging_new,--wrap=address_directory
%C%_main_test_daemon_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/guard/test-attach
%C%_guard_test_attach_SOURCES = %D%/guard/test-attach.c
%C%_guard_test_attach_CFLAGS  = $(daemon_cflags)
%C%_guard_test_attach_LDADD   = $(daemon_libraries)

# A tree and its update turn, in a time of its own and without processes.
tree_world_sources = tests/unit/fixtures/config-of.h tests/unit/fixtures/config-of.c \
	tests/unit/fixtures/daemon/tree-world.h tests/unit/fixtures/daemon/tree-world.c
tree_world_ldflags = $(AM_LDFLAGS) -Wl,--wrap=launch,--wrap=clock_now_usec

check_PROGRAMS += %D%/notify/test-watchdog
%C%_notify_test_watchdog_SOURCES = %D%/notify/test-watchdog.c $(tree_world_sources)
%C%_notify_test_watchdog_CFLAGS  = $(daemon_cflags)
%C%_notify_test_watchdog_LDFLAGS = $(tree_world_ldflags)
%C%_notify_test_watchdog_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/node/test-node
%C%_node_test_node_SOURCES = %D%/node/test-node.c $(tree_world_sources)
%C%_node_test_node_CFLAGS  = $(daemon_cflags)
%C%_node_test_node_LDFLAGS = $(tree_world_ldflags)
%C%_node_test_node_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/guard/test-lease
%C%_guard_test_lease_SOURCES = %D%/guard/test-lease.h %D%/guard/test-lease.c \
	%D%/guard/test-lease-fd.c $(tree_world_sources)
%C%_guard_test_lease_CFLAGS  = $(daemon_cflags)
%C%_guard_test_lease_LDFLAGS = $(tree_world_ldflags)
%C%_guard_test_lease_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/guard/test-attach-former
%C%_guard_test_attach_former_SOURCES = %D%/guard/test-attach-former.c $(tree_world_sources)
%C%_guard_test_attach_former_CFLAGS  = $(daemon_cflags)
%C%_guard_test_attach_former_LDFLAGS = $(tree_world_ldflags)
%C%_guard_test_attach_former_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/logger/test-child
%C%_logger_test_child_SOURCES = %D%/logger/test-child.c $(tree_world_sources)
%C%_logger_test_child_CFLAGS  = $(daemon_cflags)
%C%_logger_test_child_LDFLAGS = $(tree_world_ldflags)
%C%_logger_test_child_LDADD   = $(daemon_libraries)

# With the process of the logger, which the test plays.
fake_logger_sources = %D%/logger/fake-logger.h %D%/logger/fake-logger.c $(tree_world_sources)
fake_logger_ldflags = $(tree_world_ldflags) -Wl,--wrap=spawn_begin,--wrap=spawn_check,--wrap=kill

check_PROGRAMS += %D%/logger/test-logging
%C%_logger_test_logging_SOURCES = %D%/logger/test-logging.c $(fake_logger_sources)
%C%_logger_test_logging_CFLAGS  = $(daemon_cflags)
%C%_logger_test_logging_LDFLAGS = $(fake_logger_ldflags)
%C%_logger_test_logging_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/logger/test-log-watch
%C%_logger_test_log_watch_SOURCES = %D%/logger/test-log-watch.c $(fake_logger_sources)
%C%_logger_test_log_watch_CFLAGS  = $(daemon_cflags)
%C%_logger_test_log_watch_LDFLAGS = $(fake_logger_ldflags)
%C%_logger_test_log_watch_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/guard/test-attach-run
%C%_guard_test_attach_run_SOURCES = %D%/guard/test-attach-run.c $(tree_world_sources)
%C%_guard_test_attach_run_CFLAGS  = $(daemon_cflags)
%C%_guard_test_attach_run_LDFLAGS = $(tree_world_ldflags)
%C%_guard_test_attach_run_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/demand/test-recycle
%C%_demand_test_recycle_SOURCES = %D%/demand/test-recycle.c $(tree_world_sources)
%C%_demand_test_recycle_CFLAGS  = $(daemon_cflags)
%C%_demand_test_recycle_LDFLAGS = $(tree_world_ldflags) -Wl,--wrap=control_group_memory,--wrap=closer_call
%C%_demand_test_recycle_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/demand/test-demand
%C%_demand_test_demand_SOURCES = %D%/demand/test-demand.c \
	tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c $(tree_world_sources)
%C%_demand_test_demand_CFLAGS  = $(daemon_cflags)
%C%_demand_test_demand_LDFLAGS = $(tree_world_ldflags)
%C%_demand_test_demand_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/main/test-command-signal
%C%_main_test_command_signal_SOURCES = %D%/main/test-command-signal.c $(tree_world_sources)
%C%_main_test_command_signal_CFLAGS  = $(daemon_cflags)
%C%_main_test_command_signal_LDFLAGS = $(tree_world_ldflags) -Wl,--wrap=kill
%C%_main_test_command_signal_LDADD   = $(daemon_libraries)

# Control groups that are directories.
groups_sources = tests/unit/fixtures/daemon/groups.h tests/unit/fixtures/daemon/groups.c \
	tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c
groups_ldflags = -Wl,--wrap=cgroup_of,--wrap=cgroup_open

check_PROGRAMS += %D%/cgroup/test-groups
%C%_cgroup_test_groups_SOURCES = %D%/cgroup/test-groups.c $(groups_sources) $(tree_world_sources)
%C%_cgroup_test_groups_CFLAGS  = $(daemon_cflags)
%C%_cgroup_test_groups_LDFLAGS = $(tree_world_ldflags) $(groups_ldflags)
%C%_cgroup_test_groups_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/reap/test-survivors
%C%_reap_test_survivors_SOURCES = %D%/reap/test-survivors.c $(groups_sources) $(tree_world_sources)
%C%_reap_test_survivors_CFLAGS  = $(daemon_cflags)
%C%_reap_test_survivors_LDFLAGS = $(tree_world_ldflags) $(groups_ldflags) -Wl,--wrap=kill
%C%_reap_test_survivors_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/reap/test-orphans
%C%_reap_test_orphans_SOURCES = %D%/reap/test-orphans.c $(tree_world_sources)
%C%_reap_test_orphans_CFLAGS  = $(daemon_cflags)
%C%_reap_test_orphans_LDFLAGS = $(tree_world_ldflags) -Wl,--wrap=children_open,--wrap=children_close \
	-Wl,--wrap=children_read,--wrap=children_exceed,--wrap=reap_children,--wrap=proc_read
%C%_reap_test_orphans_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-goals
%C%_tree_test_goals_SOURCES = %D%/tree/test-goals.c $(tree_world_sources)
%C%_tree_test_goals_CFLAGS  = $(daemon_cflags)
%C%_tree_test_goals_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_goals_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-tree
%C%_tree_test_tree_SOURCES = %D%/tree/test-tree.c $(tree_world_sources)
%C%_tree_test_tree_CFLAGS  = $(daemon_cflags)
%C%_tree_test_tree_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_tree_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-exit
%C%_tree_test_exit_SOURCES = %D%/tree/test-exit.c $(tree_world_sources)
%C%_tree_test_exit_CFLAGS  = $(daemon_cflags)
%C%_tree_test_exit_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_exit_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-timetable
%C%_tree_test_timetable_SOURCES = %D%/tree/test-timetable.c $(tree_world_sources)
%C%_tree_test_timetable_CFLAGS  = $(daemon_cflags)
%C%_tree_test_timetable_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_timetable_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-stop
%C%_tree_test_stop_SOURCES = %D%/tree/test-stop.c $(tree_world_sources)
%C%_tree_test_stop_CFLAGS  = $(daemon_cflags)
%C%_tree_test_stop_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_stop_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-retired
%C%_tree_test_retired_SOURCES = %D%/tree/test-retired.c $(tree_world_sources)
%C%_tree_test_retired_CFLAGS  = $(daemon_cflags)
%C%_tree_test_retired_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_retired_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-exit-former
%C%_tree_test_exit_former_SOURCES = %D%/tree/test-exit-former.c $(tree_world_sources)
%C%_tree_test_exit_former_CFLAGS  = $(daemon_cflags)
%C%_tree_test_exit_former_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_exit_former_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-clock-set
%C%_tree_test_clock_set_SOURCES = %D%/tree/test-clock-set.c $(tree_world_sources)
%C%_tree_test_clock_set_CFLAGS  = $(daemon_cflags)
%C%_tree_test_clock_set_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_clock_set_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-restart
%C%_tree_test_restart_SOURCES = %D%/tree/test-restart.c $(tree_world_sources)
%C%_tree_test_restart_CFLAGS  = $(daemon_cflags)
%C%_tree_test_restart_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_restart_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-pace
%C%_tree_test_pace_SOURCES = %D%/tree/test-pace.c $(tree_world_sources)
%C%_tree_test_pace_CFLAGS  = $(daemon_cflags)
%C%_tree_test_pace_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_pace_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-bound
%C%_tree_test_bound_SOURCES = %D%/tree/test-bound.c $(tree_world_sources)
%C%_tree_test_bound_CFLAGS  = $(daemon_cflags)
%C%_tree_test_bound_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_bound_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-chain
%C%_tree_test_chain_SOURCES = %D%/tree/test-chain.c $(tree_world_sources)
%C%_tree_test_chain_CFLAGS  = $(daemon_cflags)
%C%_tree_test_chain_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_chain_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/succession/test-succession
%C%_succession_test_succession_SOURCES = %D%/succession/test-succession.c $(tree_world_sources)
%C%_succession_test_succession_CFLAGS  = $(daemon_cflags)
%C%_succession_test_succession_LDFLAGS = $(tree_world_ldflags)
%C%_succession_test_succession_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-budgets
%C%_tree_test_budgets_SOURCES = %D%/tree/test-budgets.c $(tree_world_sources)
%C%_tree_test_budgets_CFLAGS  = $(daemon_cflags)
%C%_tree_test_budgets_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_budgets_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-busy
%C%_tree_test_busy_SOURCES = %D%/tree/test-busy.c $(tree_world_sources)
%C%_tree_test_busy_CFLAGS  = $(daemon_cflags)
%C%_tree_test_busy_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_busy_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/tree/test-nomem
%C%_tree_test_nomem_SOURCES = %D%/tree/test-nomem.c $(tree_world_sources) $(nomem_sources)
%C%_tree_test_nomem_CFLAGS  = $(daemon_cflags)
%C%_tree_test_nomem_LDFLAGS = $(tree_world_ldflags) $(nomem_ldflags)
%C%_tree_test_nomem_LDADD   = $(daemon_libraries)

# 100,000 steps and more, each with the promises.
check_PROGRAMS += %D%/tree/test-walk
%C%_tree_test_walk_SOURCES = %D%/tree/test-walk.c tests/unit/fixtures/random-config.h \
	tests/unit/fixtures/random-config.c $(tree_world_sources)
%C%_tree_test_walk_CFLAGS  = $(daemon_cflags)
%C%_tree_test_walk_LDFLAGS = $(tree_world_ldflags)
%C%_tree_test_walk_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/describe/test-guards
%C%_describe_test_guards_SOURCES = %D%/describe/test-guards.c $(tree_world_sources)
%C%_describe_test_guards_CFLAGS  = $(daemon_cflags)
%C%_describe_test_guards_LDFLAGS = $(tree_world_ldflags)
%C%_describe_test_guards_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/describe/test-history
%C%_describe_test_history_SOURCES = %D%/describe/test-history.c $(tree_world_sources)
%C%_describe_test_history_CFLAGS  = $(daemon_cflags)
%C%_describe_test_history_LDFLAGS = $(tree_world_ldflags) -Wl,--wrap=history_log_add
%C%_describe_test_history_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/describe/test-line
%C%_describe_test_line_SOURCES = %D%/describe/test-line.c $(tree_world_sources)
%C%_describe_test_line_CFLAGS  = $(daemon_cflags)
%C%_describe_test_line_LDFLAGS = $(tree_world_ldflags)
%C%_describe_test_line_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/describe/test-parent
%C%_describe_test_parent_SOURCES = %D%/describe/test-parent.c $(tree_world_sources)
%C%_describe_test_parent_CFLAGS  = $(daemon_cflags)
%C%_describe_test_parent_LDFLAGS = $(tree_world_ldflags)
%C%_describe_test_parent_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/describe/test-report
%C%_describe_test_report_SOURCES = %D%/describe/test-report.c \
	tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c $(tree_world_sources)
%C%_describe_test_report_CFLAGS  = $(daemon_cflags)
%C%_describe_test_report_LDFLAGS = $(tree_world_ldflags)
%C%_describe_test_report_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/reload/test-reload
%C%_reload_test_reload_SOURCES = %D%/reload/test-reload.c $(tree_world_sources)
%C%_reload_test_reload_CFLAGS  = $(daemon_cflags)
%C%_reload_test_reload_LDFLAGS = $(tree_world_ldflags)
%C%_reload_test_reload_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/reload/test-upgrade
%C%_reload_test_upgrade_SOURCES = %D%/reload/test-upgrade.c $(tree_world_sources)
%C%_reload_test_upgrade_CFLAGS  = $(daemon_cflags)
%C%_reload_test_upgrade_LDFLAGS = $(tree_world_ldflags) -Wl,--wrap=crash_replace
%C%_reload_test_upgrade_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/reload/test-reload-order
%C%_reload_test_reload_order_SOURCES = %D%/reload/test-reload-order.c $(tree_world_sources)
%C%_reload_test_reload_order_CFLAGS  = $(daemon_cflags)
%C%_reload_test_reload_order_LDFLAGS = $(tree_world_ldflags)
%C%_reload_test_reload_order_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/control/test-replies
%C%_control_test_replies_SOURCES = %D%/control/test-replies.c $(tree_world_sources) $(nomem_sources)
%C%_control_test_replies_CFLAGS  = $(daemon_cflags)
%C%_control_test_replies_LDFLAGS = $(tree_world_ldflags) $(nomem_ldflags) \
	-Wl,--wrap=connection_reply,--wrap=connection_fail
%C%_control_test_replies_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/control/test-writers
%C%_control_test_writers_SOURCES = %D%/control/test-writers.c
%C%_control_test_writers_CFLAGS  = $(daemon_cflags)
%C%_control_test_writers_LDADD   = $(daemon_libraries)

# The same, with a record of signals, commands, checks and messages.
service_world_sources = tests/unit/fixtures/daemon/service-world.h \
	tests/unit/fixtures/daemon/service-world.c $(tree_world_sources)
service_world_ldflags = $(tree_world_ldflags) -Wl,--wrap=kill,--wrap=proc_read \
	-Wl,--wrap=proc_would_end,--wrap=notify_new,--wrap=notify_drain \
	-Wl,--wrap=probe_new,--wrap=probe_begin,--wrap=probe_cancel,--wrap=probe_free

check_PROGRAMS += %D%/service/test-signal
%C%_service_test_signal_SOURCES = %D%/service/test-signal.c $(service_world_sources)
%C%_service_test_signal_CFLAGS  = $(daemon_cflags)
%C%_service_test_signal_LDFLAGS = $(service_world_ldflags) \
	-Wl,--wrap=control_group_signal,--wrap=control_group_kill,--wrap=control_group_thaw_soon \
	-Wl,--wrap=proc_age
%C%_service_test_signal_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/service/test-commands
%C%_service_test_commands_SOURCES = %D%/service/test-commands.c $(service_world_sources)
%C%_service_test_commands_CFLAGS  = $(daemon_cflags)
%C%_service_test_commands_LDFLAGS = $(service_world_ldflags)
%C%_service_test_commands_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/service/test-messages
%C%_service_test_messages_SOURCES = %D%/service/test-messages.c $(service_world_sources)
%C%_service_test_messages_CFLAGS  = $(daemon_cflags)
%C%_service_test_messages_LDFLAGS = $(service_world_ldflags)
%C%_service_test_messages_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/service/test-run
%C%_service_test_run_SOURCES = %D%/service/test-run.c $(service_world_sources)
%C%_service_test_run_CFLAGS  = $(daemon_cflags)
%C%_service_test_run_LDFLAGS = $(service_world_ldflags)
%C%_service_test_run_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/reap/test-group-end
%C%_reap_test_group_end_SOURCES = %D%/reap/test-group-end.c $(service_world_sources)
%C%_reap_test_group_end_CFLAGS  = $(daemon_cflags)
%C%_reap_test_group_end_LDFLAGS = $(service_world_ldflags) \
	-Wl,--wrap=control_group_is_populated,--wrap=control_group_remove \
	-Wl,--wrap=control_group_watch,--wrap=control_group_signal,--wrap=control_group_thaw_soon \
	-Wl,--wrap=control_group_init
%C%_reap_test_group_end_LDADD   = $(daemon_libraries)

# The same tree with its control socket.
control_world_sources = %D%/control/control-world.h %D%/control/control-world.c \
	tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c

check_PROGRAMS += %D%/control/test-requests
%C%_control_test_requests_SOURCES = %D%/control/test-requests.c $(control_world_sources) \
	$(tree_world_sources)
%C%_control_test_requests_CFLAGS  = $(daemon_cflags)
%C%_control_test_requests_LDFLAGS = $(tree_world_ldflags)
%C%_control_test_requests_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/control/test-inhibit
%C%_control_test_inhibit_SOURCES = %D%/control/test-inhibit.c $(control_world_sources) \
	$(tree_world_sources)
%C%_control_test_inhibit_CFLAGS  = $(daemon_cflags)
%C%_control_test_inhibit_LDFLAGS = $(tree_world_ldflags)
%C%_control_test_inhibit_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/control/test-programs
%C%_control_test_programs_SOURCES = %D%/control/test-programs.c $(control_world_sources) \
	$(tree_world_sources)
%C%_control_test_programs_CFLAGS  = $(daemon_cflags)
%C%_control_test_programs_LDFLAGS = $(tree_world_ldflags) \
	-Wl,--wrap=proc_find_replaced
%C%_control_test_programs_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/control/test-rollout
%C%_control_test_rollout_SOURCES = %D%/control/test-rollout.c $(control_world_sources) \
	$(tree_world_sources)
%C%_control_test_rollout_CFLAGS  = $(daemon_cflags)
%C%_control_test_rollout_LDFLAGS = $(tree_world_ldflags)
%C%_control_test_rollout_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/control/test-connection
%C%_control_test_connection_SOURCES = %D%/control/test-connection.c $(control_world_sources) \
	$(tree_world_sources)
%C%_control_test_connection_CFLAGS  = $(daemon_cflags)
%C%_control_test_connection_LDFLAGS = $(tree_world_ldflags) -Wl,--wrap=accept4
%C%_control_test_connection_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/control/test-logs
%C%_control_test_logs_SOURCES = %D%/control/test-logs.c $(control_world_sources) \
	$(fake_logger_sources)
%C%_control_test_logs_CFLAGS  = $(daemon_cflags)
%C%_control_test_logs_LDFLAGS = $(fake_logger_ldflags)
%C%_control_test_logs_LDADD   = $(daemon_libraries)

# The same tree with processes.
live_world_sources = tests/unit/fixtures/daemon/live-world.h \
	tests/unit/fixtures/daemon/live-world.c tests/unit/fixtures/scratch.h \
	tests/unit/fixtures/scratch.c $(tree_world_sources)

check_PROGRAMS += %D%/spawn/test-launch
%C%_spawn_test_launch_SOURCES = %D%/spawn/test-launch.c $(live_world_sources)
%C%_spawn_test_launch_CFLAGS  = $(daemon_cflags)
%C%_spawn_test_launch_LDFLAGS = $(tree_world_ldflags)
%C%_spawn_test_launch_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/spawn/test-hook
%C%_spawn_test_hook_SOURCES = %D%/spawn/test-hook.c $(tree_world_sources)
%C%_spawn_test_hook_CFLAGS  = $(daemon_cflags)
%C%_spawn_test_hook_LDFLAGS = $(tree_world_ldflags) -Wl,--wrap=logging_is_usable,--wrap=log_subscription_new \
	-Wl,--wrap=log_subscription_update,--wrap=log_subscription_free
%C%_spawn_test_hook_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/reap/test-reap
%C%_reap_test_reap_SOURCES = %D%/reap/test-reap.c $(live_world_sources)
%C%_reap_test_reap_CFLAGS  = $(daemon_cflags)
%C%_reap_test_reap_LDFLAGS = $(tree_world_ldflags)
%C%_reap_test_reap_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/node/test-agent
%C%_node_test_agent_SOURCES = %D%/node/test-agent.c $(live_world_sources)
%C%_node_test_agent_CFLAGS  = $(daemon_cflags)
%C%_node_test_agent_LDFLAGS = $(tree_world_ldflags)
%C%_node_test_agent_LDADD   = $(daemon_libraries)

check_PROGRAMS += %D%/probe/test-probe
%C%_probe_test_probe_SOURCES = %D%/probe/test-probe.c $(live_world_sources)
%C%_probe_test_probe_CFLAGS  = $(daemon_cflags)
%C%_probe_test_probe_LDFLAGS = $(tree_world_ldflags)
%C%_probe_test_probe_LDADD   = $(daemon_libraries)
endif
