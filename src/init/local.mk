noinst_LTLIBRARIES += %D%/libinit.la
%C%_libinit_la_SOURCES = %D%/init.h %D%/init.c
%C%_libinit_la_CFLAGS = $(AM_CFLAGS) $(PROGRAM_CFLAGS)

bin_PROGRAMS += swansong-init
swansong_init_SOURCES = %D%/main.c
swansong_init_CFLAGS  = $(AM_CFLAGS) $(PROGRAM_CFLAGS)
swansong_init_LDFLAGS = $(AM_LDFLAGS) $(PROGRAM_LDFLAGS)
swansong_init_LDADD   = %D%/libinit.la src/sys/libsys.la src/base/libbase.la
$(swansong_init_OBJECTS): %D%/usage.inc
EXTRA_DIST += %D%/usage.txt
CLEANFILES += %D%/usage.inc

# For images with nothing in them: the same sources, at once, by a compiler that may be that of
# another C library.  Without the names of users, for which glibc would still want shared ones.
static_init_sources = \
	$(src_base_libbase_la_SOURCES) \
	$(src_sys_libsys_la_SOURCES) \
	$(src_init_libinit_la_SOURCES) \
	$(swansong_init_SOURCES)
swansong-init-static: $(static_init_sources) %D%/usage.inc
	$(AM_V_CCLD)sources= && for f in $(static_init_sources); do \
		case $$f in \
		src/sys/spawn/ids.c | src/sys/file/refusal.c) ;; \
		*.c) sources="$$sources $(srcdir)/$$f" ;; \
		esac; done && \
	$(STATIC_CC) $(DEFS) $(AM_CPPFLAGS) $(STATIC_CPPFLAGS) $(WARN_CFLAGS) $(HARDEN_CFLAGS) $(STATIC_CFLAGS) \
		-ffunction-sections -fdata-sections -fno-pie $(HARDEN_LDFLAGS) \
		-static -no-pie -s -Wl,--gc-sections -o $@ $$sources
CLEANFILES += swansong-init-static
if STATIC_INIT
bin_SCRIPTS += swansong-init-static
endif
