# The daemon in a simulated world: its own objects, and these functions instead of the kernel's.
sim_replaced = __open_2 __read_chk accept4 access adjust_process attributes_drop_inheritable calloc cgroup_children \
	cgroup_is_delegated cgroup_is_machine_root cgroup_is_populated cgroup_kill cgroup_lists cgroup_make \
	cgroup_of cgroup_open cgroup_open_below cgroup_processes cgroup_read cgroup_remove cgroup_signal \
	cgroup_write children_close children_exceed children_open children_read clock_now_usec \
	clock_realtime_usec close closer_call command_watch_parent environment_read epoll_create1 \
	epoll_ctl epoll_wait fault_begin fcntl64 fd_close_above flock fopencookie fork fstat fstatat geteuid getpgid getrandom getrlimit getsid \
	inet_listen inotify_add_watch inotify_init1 inotify_rm_watch json_loads kill malloc mount_call mount_is_local open openat \
	passed_close_apart passed_close_now path_make_directory path_open prctl pwrite proc_age proc_each proc_each_child proc_open proc_read proc_read_child \
	proc_uid proc_would_end read realloc reallocarray reap_child reap_children replace_file roster_close_strays sendmsg setsockopt signalfd \
	spawn_abandon spawn_begin spawn_check spawn_note_death spawn_step_of strdup strndup syscall \
	timerfd_create timerfd_settime tsearch unix_close unix_datagram_new unix_end_input unix_listen \
	unix_peek unix_peer unix_receive unix_receive_passed unix_unlisten update_turn usage_proportional usage_read_pressure usage_watch_pressure

check_PROGRAMS += %D%/sim
%C%_sim_SOURCES = \
	%D%/program.h %D%/program.c \
	%D%/files.h %D%/files.c \
	%D%/group.h %D%/group.c \
	%D%/kernel.h %D%/kernel.c \
	%D%/client.h %D%/client.c \
	%D%/descriptors.h %D%/descriptors.c \
	%D%/system.h %D%/system-process.c %D%/system-file.c %D%/system-group.c \
	%D%/system-memory.c %D%/system-clock.c %D%/event.c \
	%D%/history.h %D%/history.c %D%/draw.c \
	%D%/promises.h %D%/promises.c \
	%D%/short.h %D%/short.c \
	%D%/operations.h %D%/operations.c \
	%D%/run.h %D%/run.c \
	%D%/shrink.h %D%/shrink.c \
	%D%/main.c
%C%_sim_CFLAGS  = $(AM_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS)
%C%_sim_LDFLAGS = $(AM_LDFLAGS) `echo ' $(sim_replaced)' | sed 's/ \([a-z0-9_]*\)/ -Wl,--wrap=\1/g'`
%C%_sim_LDADD   = src/daemon/libdaemon.la src/proto/libproto.la src/model/libmodel.la \
	src/sys/libsys.la src/swansong/libswansong-core.la src/base/libbase.la $(JANSSON_LIBS)

EXTRA_DIST += %D%/found

# Histories of new seeds, for a minute or an hour; a failure is printed in its shortest form.  To repeat a
# run: make sim SIM_SEED=N.
SIM_SECONDS = 60
SIM_JOBS    = `nproc`
.PHONY: sim sim-long
sim: %D%/sim
	@seed=$${SIM_SEED:-`date +%s`000}; echo "SIM_SEED=$$seed"; \
	%D%/sim --seed "$$seed" --seconds $(SIM_SECONDS) --operations 20 --jobs $(SIM_JOBS)
sim-long:
	$(MAKE) $(AM_MAKEFLAGS) sim SIM_SECONDS=3600
