if HAVE_CHECK
check_PROGRAMS += %D%/file/test-path-tree
%C%_file_test_path_tree_SOURCES = %D%/file/test-path-tree.c
%C%_file_test_path_tree_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_file_test_path_tree_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/file/test-replace
%C%_file_test_replace_SOURCES = %D%/file/test-replace.c
%C%_file_test_replace_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_file_test_replace_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/file/test-path
%C%_file_test_path_SOURCES = %D%/file/test-path.c
%C%_file_test_path_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_file_test_path_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/spawn/test-spawn
%C%_spawn_test_spawn_SOURCES = tests/unit/fixtures/spawned.h tests/unit/fixtures/spawned.c %D%/spawn/test-spawn.h %D%/spawn/test-spawn.c \
	%D%/spawn/test-spawn-files.c %D%/spawn/test-spawn-terminal.c %D%/spawn/test-spawn-failure.c \
	%D%/spawn/test-spawn-begin.c
%C%_spawn_test_spawn_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_spawn_test_spawn_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/spawn/test-spawn-attributes
%C%_spawn_test_spawn_attributes_SOURCES = tests/unit/fixtures/spawned.h tests/unit/fixtures/spawned.c %D%/spawn/test-spawn-attributes.c
%C%_spawn_test_spawn_attributes_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_spawn_test_spawn_attributes_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/process/test-children
%C%_process_test_children_SOURCES = %D%/process/test-children.c
%C%_process_test_children_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_process_test_children_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/spawn/test-keeper
%C%_spawn_test_keeper_SOURCES = %D%/spawn/test-keeper.c
%C%_spawn_test_keeper_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_spawn_test_keeper_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/spawn/test-crash
%C%_spawn_test_crash_SOURCES = tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c %D%/spawn/crashing.h %D%/spawn/crashing.c \
	%D%/spawn/limits.h %D%/spawn/limits.c %D%/spawn/test-crash.c
%C%_spawn_test_crash_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_spawn_test_crash_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/spawn/test-spawn-user
%C%_spawn_test_spawn_user_SOURCES = tests/unit/fixtures/spawned.h tests/unit/fixtures/spawned.c %D%/spawn/test-spawn-user.c
%C%_spawn_test_spawn_user_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_spawn_test_spawn_user_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/process/test-sys
%C%_process_test_sys_SOURCES = %D%/process/test-sys.c
%C%_process_test_sys_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_process_test_sys_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

# What stands in front of one command.
check_PROGRAMS += %D%/process/test-command
%C%_process_test_command_SOURCES = %D%/process/test-command.c
%C%_process_test_command_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_process_test_command_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/process/test-pid-file
%C%_process_test_pid_file_SOURCES = %D%/process/test-pid-file.c
%C%_process_test_pid_file_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_process_test_pid_file_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/rights/test-rights
%C%_rights_test_rights_SOURCES = %D%/rights/test-rights.c
%C%_rights_test_rights_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_rights_test_rights_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/process/test-usage
%C%_process_test_usage_SOURCES = %D%/process/test-usage.c
%C%_process_test_usage_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_process_test_usage_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/spawn/test-adjust
%C%_spawn_test_adjust_SOURCES = %D%/spawn/test-adjust.c
%C%_spawn_test_adjust_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_spawn_test_adjust_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/process/test-cgroup
%C%_process_test_cgroup_SOURCES = tests/unit/fixtures/spawned.h tests/unit/fixtures/spawned.c %D%/process/test-cgroup.c
%C%_process_test_cgroup_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_process_test_cgroup_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/process/test-cgroup-kernel
%C%_process_test_cgroup_kernel_SOURCES = tests/unit/fixtures/spawned.h tests/unit/fixtures/spawned.c %D%/process/test-cgroup-kernel.c
%C%_process_test_cgroup_kernel_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_process_test_cgroup_kernel_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/ipc/test-passed
%C%_ipc_test_passed_SOURCES = tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c %D%/ipc/test-passed.c
%C%_ipc_test_passed_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_ipc_test_passed_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/ipc/test-unixsock
%C%_ipc_test_unixsock_SOURCES = tests/unit/fixtures/spawned.h tests/unit/fixtures/spawned.c %D%/ipc/test-unixsock.c
%C%_ipc_test_unixsock_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_ipc_test_unixsock_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/ipc/test-unix-message
%C%_ipc_test_unix_message_SOURCES = tests/unit/fixtures/spawned.h tests/unit/fixtures/spawned.c %D%/ipc/test-unix-message.c
%C%_ipc_test_unix_message_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_ipc_test_unix_message_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/spawn/test-ids
%C%_spawn_test_ids_SOURCES = %D%/spawn/test-ids.c
%C%_spawn_test_ids_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_spawn_test_ids_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/ipc/test-unix-sender
%C%_ipc_test_unix_sender_SOURCES = %D%/ipc/test-unix-sender.c
%C%_ipc_test_unix_sender_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_ipc_test_unix_sender_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/ipc/test-arrivals
%C%_ipc_test_arrivals_SOURCES = %D%/ipc/test-arrivals.c
%C%_ipc_test_arrivals_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_ipc_test_arrivals_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/ipc/test-connections
%C%_ipc_test_connections_SOURCES = %D%/ipc/test-connections.c
%C%_ipc_test_connections_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_ipc_test_connections_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/ipc/test-listeners
%C%_ipc_test_listeners_SOURCES = %D%/ipc/test-listeners.c
%C%_ipc_test_listeners_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_ipc_test_listeners_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/process/test-descendants
%C%_process_test_descendants_SOURCES = %D%/process/test-descendants.c
%C%_process_test_descendants_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_process_test_descendants_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=syscall
%C%_process_test_descendants_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/process/test-proc-files
%C%_process_test_proc_files_SOURCES = tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c \
	%D%/process/test-proc-files.c
%C%_process_test_proc_files_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_process_test_proc_files_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/process/test-proc
%C%_process_test_proc_SOURCES = tests/unit/fixtures/spawned.h tests/unit/fixtures/spawned.c %D%/process/test-proc.c
%C%_process_test_proc_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_process_test_proc_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/process/test-job
%C%_process_test_job_SOURCES = %D%/process/test-job.c
%C%_process_test_job_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_process_test_job_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/ipc/test-inetsock
%C%_ipc_test_inetsock_SOURCES = tests/unit/fixtures/spawned.h tests/unit/fixtures/spawned.c %D%/ipc/test-inetsock.c
%C%_ipc_test_inetsock_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_ipc_test_inetsock_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/ipc/test-journal
%C%_ipc_test_journal_SOURCES = tests/unit/fixtures/spawned.h tests/unit/fixtures/spawned.c tests/unit/fixtures/scratch.h tests/unit/fixtures/scratch.c %D%/ipc/test-journal.c
%C%_ipc_test_journal_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_ipc_test_journal_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=connect
%C%_ipc_test_journal_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/spawn/test-takeover
%C%_spawn_test_takeover_SOURCES = %D%/spawn/limits.h %D%/spawn/limits.c %D%/spawn/test-takeover.c
%C%_spawn_test_takeover_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_spawn_test_takeover_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/ipc/test-pagefile
%C%_ipc_test_pagefile_SOURCES = %D%/ipc/test-pagefile.c
%C%_ipc_test_pagefile_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_ipc_test_pagefile_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/ipc/test-held
%C%_ipc_test_held_SOURCES = %D%/ipc/test-held.c
%C%_ipc_test_held_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_ipc_test_held_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la

check_PROGRAMS += %D%/file/test-mount
%C%_file_test_mount_SOURCES = tests/unit/fixtures/spawned.h tests/unit/fixtures/spawned.c %D%/file/test-mount.c
%C%_file_test_mount_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_file_test_mount_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=lstat,--wrap=syscall
%C%_file_test_mount_LDADD   = tests/unit/fixtures/libtestmain.la src/sys/libsys.la src/base/libbase.la
endif
