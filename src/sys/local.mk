noinst_LTLIBRARIES += %D%/libsys.la
%C%_libsys_la_SOURCES = \
	%D%/signals.h %D%/signals.c \
	%D%/ids.h %D%/ids.c \
	%D%/unixsock.h %D%/unixsock.c \
	%D%/proc.h %D%/proc.c \
	%D%/cgroup.h %D%/cgroup.c \
	%D%/child.h %D%/child.c \
	%D%/spawn.h %D%/spawn.c \
	%D%/reap.h %D%/reap.c
