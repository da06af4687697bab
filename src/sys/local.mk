noinst_LTLIBRARIES += %D%/libsys.la
%C%_libsys_la_SOURCES = \
	%D%/signals.h %D%/signals.c \
	%D%/ids.h %D%/ids.c \
	%D%/unixsock.h %D%/unixsock.c \
	%D%/pagefile.h %D%/pagefile.c \
	%D%/inetsock.h %D%/inetsock.c \
	%D%/journal.h %D%/journal.c \
	%D%/proc.h %D%/proc.c \
	%D%/children.h %D%/children.c \
	%D%/cgroup.h %D%/cgroup.c \
	%D%/child.h \
	%D%/child-attributes.h %D%/child-attributes.c \
	%D%/child.c \
	%D%/spawn.h %D%/spawn.c \
	%D%/reap.h %D%/reap.c \
	%D%/descendants.h %D%/descendants.c \
	%D%/forward.h %D%/forward.c \
	%D%/job.h %D%/job.c \
	%D%/command.h %D%/command.c
