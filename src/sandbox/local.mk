noinst_LTLIBRARIES += %D%/libsandbox.la
%C%_libsandbox_la_SOURCES = \
	%D%/options.h %D%/options.c \
	%D%/mounts.h %D%/mounts.c \
	%D%/files.h %D%/files.c \
	%D%/calls.h %D%/calls.c
%C%_libsandbox_la_CFLAGS = $(AM_CFLAGS) $(PROGRAM_CFLAGS) $(SECCOMP_CFLAGS)
%C%_libsandbox_la_LIBADD = $(SECCOMP_LIBS)

# GROUP("@name", "members") of each line.
%D%/groups.inc: %D%/system-call-groups
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SED) -n 's/^\(@[^ ]*\) \(.*\)/GROUP("\1", "\2")/p' $(srcdir)/%D%/system-call-groups >$@.new && \
		mv $@.new $@
$(%C%_libsandbox_la_OBJECTS): %D%/groups.inc src/base/protections.inc
$(swansong_sandbox_OBJECTS): src/base/protections.inc
CLEANFILES += %D%/groups.inc

pkglibexec_PROGRAMS += swansong-sandbox
swansong_sandbox_SOURCES = %D%/main.c
swansong_sandbox_CFLAGS  = $(AM_CFLAGS) $(PROGRAM_CFLAGS)
swansong_sandbox_LDFLAGS = $(AM_LDFLAGS) $(PROGRAM_LDFLAGS)
swansong_sandbox_LDADD   = %D%/libsandbox.la src/sys/libsys.la src/base/libbase.la
