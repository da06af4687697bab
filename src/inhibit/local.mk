pkglibexec_PROGRAMS += swansong-inhibit
swansong_inhibit_SOURCES = %D%/main.c
swansong_inhibit_CFLAGS  = $(AM_CFLAGS) $(PROGRAM_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS)
swansong_inhibit_LDFLAGS = $(AM_LDFLAGS) $(PROGRAM_LDFLAGS)
swansong_inhibit_LDADD   = src/proto/libproto.la src/model/libmodel.la src/base/libbase.la $(SYSTEMD_LIBS)
