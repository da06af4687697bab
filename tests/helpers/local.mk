# Tiny services for the integration tests; built by check, no tests themselves.
helpers = \
	%D%/attached \
	%D%/breeder \
	%D%/crasher \
	%D%/flood \
	%D%/forker \
	%D%/fuse-sender \
	%D%/http-load \
	%D%/hungry \
	%D%/idle \
	%D%/json-field \
	%D%/kill-at \
	%D%/leaser \
	%D%/notifier \
	%D%/orphans \
	%D%/port-server \
	%D%/reexec \
	%D%/report-self \
	%D%/signal-log \
	%D%/slow-server \
	%D%/stubborn \
	%D%/tcp-ready

EXTRA_PROGRAMS += $(helpers)
check_DATA     += $(helpers)
CLEANFILES     += $(helpers)

%C%_json_field_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_json_field_LDADD  = $(JANSSON_LIBS)

%C%_port_server_CFLAGS = $(AM_CFLAGS) $(SYSTEMD_CFLAGS)
%C%_port_server_LDADD  = $(SYSTEMD_LIBS)

%C%_slow_server_CFLAGS = $(AM_CFLAGS) $(SYSTEMD_CFLAGS) -pthread
%C%_slow_server_LDADD  = $(SYSTEMD_LIBS)

EXTRA_DIST += %D%/preload.c \
	%D%/vm-registers.c \
	%D%/fake-journal.py \
	%D%/fake-syslog.py \
	%D%/fleet-web.py \
	%D%/hanging-mount.py \
	%D%/lying-mount.py \
	%D%/terminal.py \
	%D%/worker.py \
	%D%/http-server.py \
	%D%/prober.py \
	%D%/rude-client.py \
	%D%/shop.py \
	%D%/site.py \
	%D%/tutorial.py \
	%D%/units-run.py \
	%D%/talker.py \
	%D%/counter.py \
	%D%/compare-yaml.py \
	%D%/convert-units.py \
	%D%/fuzz-convert.py \
	%D%/holder.py \
	%D%/large-inputs.py \
	%D%/exporter-clients.py \
	%D%/make-version.py \
	%D%/notify-log.py \
	%D%/unreadable.py \
	%D%/test-plot.py \
	%D%/test-swansong.py \
	%D%/python-service.py \
	%D%/migration-page.py \
	%D%/page.py \
	%D%/relay.py
