noinst_LTLIBRARIES += %D%/libsys.la
%C%_libsys_la_SOURCES =

# process: processes that are there
%C%_libsys_la_SOURCES += \
	%D%/process/signals.h %D%/process/signals.c \
	%D%/process/proc.h %D%/process/proc.c \
	%D%/process/pid-file.h %D%/process/pid-file.c \
	%D%/process/children.h %D%/process/children.c \
	%D%/process/snapshot.h %D%/process/snapshot.c \
	%D%/process/descendants.h %D%/process/descendants.c \
	%D%/process/forward.h %D%/process/forward.c \
	%D%/process/reap.h %D%/process/reap.c \
	%D%/process/job.h %D%/process/job.c \
	%D%/process/command.h %D%/process/command.c \
	%D%/process/cgroup.h %D%/process/cgroup.c \
	%D%/process/usage.h %D%/process/usage.c

# rights: what a process gives up
%C%_libsys_la_SOURCES += %D%/rights/rights.h %D%/rights/rights.c

# spawn: making a process, and executing this one again
%C%_libsys_la_SOURCES += \
	%D%/spawn/ids.h %D%/spawn/ids.c \
	%D%/spawn/spec.h %D%/spawn/raw.h \
	%D%/spawn/environment.h %D%/spawn/environment.c \
	%D%/spawn/block.h %D%/spawn/block.c \
	%D%/spawn/child-attributes.h %D%/spawn/child-attributes.c \
	%D%/spawn/adjust.h %D%/spawn/adjust.c \
	%D%/spawn/child.h %D%/spawn/child.c \
	%D%/spawn/spawn.h %D%/spawn/spawn.c \
	%D%/spawn/crash-history.h %D%/spawn/crash-history.c \
	%D%/spawn/crash.h %D%/spawn/crash.c \
	%D%/spawn/keeper.h %D%/spawn/keeper.c

# file: paths on which others may have put something, mount points
%C%_libsys_la_SOURCES += \
	%D%/file/mount.h %D%/file/mount.c \
	%D%/file/path.h %D%/file/path.c \
	%D%/file/replace.h %D%/file/replace.c

# ipc: sockets and shared memory
%C%_libsys_la_SOURCES += \
	%D%/ipc/passed.h %D%/ipc/passed.c \
	%D%/ipc/unixsock.h %D%/ipc/unixsock.c \
	%D%/ipc/inetsock.h %D%/ipc/inetsock.c \
	%D%/ipc/sock-diag.h %D%/ipc/sock-diag.c \
	%D%/ipc/listeners.h %D%/ipc/listeners.c \
	%D%/ipc/held.h %D%/ipc/held.c \
	%D%/ipc/connections.h %D%/ipc/connections.c \
	%D%/ipc/pagefile.h %D%/ipc/pagefile.c \
	%D%/ipc/journal.h %D%/ipc/journal.c
