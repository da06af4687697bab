bashcompletiondir          = $(datadir)/bash-completion/completions
nodist_bashcompletion_DATA = %D%/completion/swansongctl
zshcompletiondir           = $(datadir)/zsh/site-functions
nodist_zshcompletion_DATA  = %D%/completion/_swansongctl
fishcompletiondir          = $(datadir)/fish/vendor_completions.d
nodist_fishcompletion_DATA = %D%/completion/swansongctl.fish
%D%/completion/swansongctl: %D%/completion/swansongctl.in $(keys)
	$(fill_in_keys)
%D%/completion/swansongctl.fish: %D%/completion/swansongctl.fish.in $(keys)
	$(fill_in_keys)
%D%/completion/_swansongctl: %D%/completion/_swansongctl.in $(keys)
	$(fill_in_keys)
EXTRA_DIST += %D%/completion/swansongctl.in %D%/completion/_swansongctl.in %D%/completion/swansongctl.fish.in
CLEANFILES += $(nodist_bashcompletion_DATA) $(nodist_zshcompletion_DATA) $(nodist_fishcompletion_DATA)

# Colours for configurations in editors.
editordir          = $(pkgdatadir)/editor
nodist_editor_DATA = %D%/editor/swansong.nanorc %D%/editor/swansong.vim
$(nodist_editor_DATA): $(keys)
%D%/editor/swansong.nanorc: %D%/editor/swansong.nanorc.in
	$(fill_in_keys)
%D%/editor/swansong.vim: %D%/editor/swansong.vim.in
	$(fill_in_keys)
EXTRA_DIST += $(nodist_editor_DATA:=.in)
CLEANFILES += $(nodist_editor_DATA)

# Guards of a shell script; see swansong-guard(7).
dist_pkgdata_DATA = %D%/guard/swansong-guard.sh

# For those who come from elsewhere; see swansong-migration(7).  The name of the command chooses its reader.
convertdir           = $(pkgdatadir)/convert
dist_convert_SCRIPTS = %D%/convert/swansong-convert
convertmoduledir     = $(convertdir)/swansong_convert
dist_convertmodule_DATA = \
	%D%/convert/swansong_convert/__init__.py \
	%D%/convert/swansong_convert/compose.py \
	%D%/convert/swansong_convert/compose_keys.py \
	%D%/convert/swansong_convert/compose_service.py \
	%D%/convert/swansong_convert/compose_text.py \
	%D%/convert/swansong_convert/files.py \
	%D%/convert/swansong_convert/folders.py \
	%D%/convert/swansong_convert/graph.py \
	%D%/convert/swansong_convert/main.py \
	%D%/convert/swansong_convert/notes.py \
	%D%/convert/swansong_convert/procfile.py \
	%D%/convert/swansong_convert/runit.py \
	%D%/convert/swansong_convert/s6rc.py \
	%D%/convert/swansong_convert/supervisord.py \
	%D%/convert/swansong_convert/supervisord_program.py \
	%D%/convert/swansong_convert/supervisord_tree.py \
	%D%/convert/swansong_convert/systemd.py \
	%D%/convert/swansong_convert/systemd_activation.py \
	%D%/convert/swansong_convert/systemd_commands.py \
	%D%/convert/swansong_convert/systemd_keys.py \
	%D%/convert/swansong_convert/systemd_output.py \
	%D%/convert/swansong_convert/systemd_reader.py \
	%D%/convert/swansong_convert/systemd_sandbox.py \
	%D%/convert/swansong_convert/systemd_service.py \
	%D%/convert/swansong_convert/systemd_words.py \
	%D%/convert/swansong_convert/units.py \
	%D%/convert/swansong_convert/values.py \
	%D%/convert/swansong_convert/writer.py \
	%D%/convert/swansong_convert/yaml_nodes.py \
	%D%/convert/swansong_convert/yaml_subset.py
readers     = supervisord2swansong systemd2swansong compose2swansong
EXTRA_DIST += $(readers:%=%D%/convert/%)
install-exec-local:
	$(MKDIR_P) "$(DESTDIR)$(bindir)"
	for name in swansong-convert $(readers); do \
		ln -s -f -r "$(DESTDIR)$(convertdir)/swansong-convert" "$(DESTDIR)$(bindir)/$$name" || exit; \
	done
uninstall-hook:
	for name in swansong-convert $(readers); do rm -f "$(DESTDIR)$(bindir)/$$name"; done
	for name in $(readers); do rm -f "$(DESTDIR)$(man1dir)/$$name.1"; done

# For Python programs: one file, to be copied beside them, or found by PYTHONPATH.
pythonmoduledir        = $(pkgdatadir)/python
dist_pythonmodule_DATA = %D%/python/swansong.py

# For C++ programs: one header, beside those of the library.
swansonginclude_HEADERS += %D%/cpp/swansong.hpp
EXTRA_DIST += %D%/cpp/example.cpp

# For Rust programs: a crate of declarations, and a safe one above it.
EXTRA_DIST += %D%/rust/swansong/Cargo.toml %D%/rust/swansong/src/lib.rs %D%/rust/swansong/src/guard.rs \
	%D%/rust/swansong/src/interrupt.rs %D%/rust/swansong/src/report.rs %D%/rust/swansong/src/tokio_io.rs \
	%D%/rust/swansong/tests/promises.rs %D%/rust/swansong/tests/tokio.rs
EXTRA_DIST += %D%/rust/swansong-sys/Cargo.toml %D%/rust/swansong-sys/build.rs \
	%D%/rust/swansong-sys/src/lib.rs %D%/rust/swansong-sys/tests/promises.rs

# What helps at the edges: units, containers, examples.
systemunitdir        = $(SYSTEM_UNIT_DIR)
nodist_systemunit_DATA = %D%/systemd/swansongd.service %D%/systemd/swansongd@.service
fill_in_unit = $(AM_V_GEN)$(MKDIR_P) $(@D) && $(SED) -e 's,@bindir\@,$(bindir),g' \
	-e 's,@sbindir\@,$(sbindir),g' -e 's,@pkgdatadir\@,$(pkgdatadir),g' -e 's,@pkglibexecdir\@,$(pkglibexecdir),g'
unit_of_swansongd = $(top_srcdir)/contrib/systemd/swansongd.service.in >$@.new && mv $@.new $@
%D%/systemd/swansongd.service: %D%/systemd/swansongd.service.in Makefile
	$(fill_in_unit) -e 's,@config\@,$(sysconfdir)/swansong/swansong.ini,' \
		-e 's,@\(instance\|arguments\|socket\)@,,' $(unit_of_swansongd)
# A tree of a name of its own: swansongd@NAME, with NAME.ini.
%D%/systemd/swansongd@.service: %D%/systemd/swansongd.service.in Makefile
	$(fill_in_unit) -e 's,@instance\@,: %i,' -e 's,@config\@,$(sysconfdir)/swansong/%i.ini,' \
		-e 's,@arguments\@, -c $(sysconfdir)/swansong/%i.ini -s /run/swansong/%i.sock,' \
		-e 's,@socket\@, -s /run/swansong/%i.sock,' $(unit_of_swansongd)
CLEANFILES += %D%/systemd/swansongd.service %D%/systemd/swansongd@.service
nodist_systemunit_DATA += %D%/systemd/swansong-inhibit.service
%D%/systemd/swansong-inhibit.service: %D%/systemd/swansong-inhibit.service.in Makefile
	$(fill_in_unit) $(top_srcdir)/$@.in >$@.new && mv $@.new $@
CLEANFILES += %D%/systemd/swansong-inhibit.service
EXTRA_DIST += %D%/systemd/swansong-inhibit.service.in
if EXPORTER
nodist_systemunit_DATA += %D%/systemd/swansong-exporter.service
endif
%D%/systemd/swansong-exporter.service: %D%/systemd/swansong-exporter.service.in Makefile
	$(fill_in_unit) $(top_srcdir)/$@.in >$@.new && mv $@.new $@
CLEANFILES += %D%/systemd/swansong-exporter.service
EXTRA_DIST += %D%/systemd/swansong-exporter.service.in
systemuserunitdir         = $(SYSTEM_UNIT_DIR:system=user)
nodist_systemuserunit_DATA = %D%/systemd/user/swansongd.service
%D%/systemd/user/swansongd.service: %D%/systemd/user/swansongd.service.in Makefile
	$(fill_in_unit) $(top_srcdir)/$@.in >$@.new && mv $@.new $@
CLEANFILES += %D%/systemd/user/swansongd.service
EXTRA_DIST += %D%/systemd/user/swansongd.service.in
dist_pkgdata_DATA += %D%/systemd/hardened.conf

# For packages: the running daemon becomes that of another version.
dist_pkglibexec_SCRIPTS = %D%/systemd/upgrade-units

# For swansongctl support-dump.
dist_pkglibexec_SCRIPTS += %D%/support/support-dump

# For swansongctl security.
dist_pkglibexec_SCRIPTS += %D%/security/security
dist_pkgdata_DATA += src/sandbox/system-call-groups

# For swansongctl rehearse.
dist_pkglibexec_SCRIPTS += %D%/rehearse/rehearse

# For swansongctl plot.
dist_pkglibexec_SCRIPTS += %D%/plot/plot

# Spans and lines for a collector of OpenTelemetry.
dist_pkglibexec_SCRIPTS += %D%/otlp/swansong-otlp
EXTRA_DIST += %D%/otlp/README.md

# The resource agent of Pacemaker, which looks for it in /usr/lib/ocf.
ocfdir              = $(prefix)/lib/ocf/resource.d/swansong
nodist_ocf_SCRIPTS  = %D%/pacemaker/swansong
%D%/pacemaker/swansong: %D%/pacemaker/swansong.in Makefile
	$(fill_in_unit) -e 's,@sysconfdir\@,$(sysconfdir),g' $(top_srcdir)/$@.in >$@.new && \
		chmod +x $@.new && mv $@.new $@
CLEANFILES += %D%/pacemaker/swansong
EXTRA_DIST += %D%/pacemaker/swansong.in %D%/pacemaker/README.md %D%/pacemaker/cib.xml

EXTRA_DIST += %D%/systemd/swansongd.service.in %D%/container/Containerfile %D%/container/mkrootfs \
	%D%/container/Containerfile.command %D%/container/Containerfile.scratch %D%/container/Containerfile.source \
	%D%/container/Containerfile.tree %D%/container/tree.ini %D%/container/compose.yaml \
	%D%/container/MOVING.md \
	%D%/prometheus/swansong.rules.yml %D%/prometheus/swansong.test.yml \
	%D%/prometheus/swansong-dashboard.json \
	%D%/webhook/README.md %D%/webhook/swansong-webhook \
	%D%/ups/README.md %D%/ups/swansong-nut %D%/ups/swansong-apcupsd \
	%D%/nomad/README.md %D%/nomad/shop.nomad.hcl \
	%D%/kubernetes/README.md %D%/kubernetes/pod.yaml %D%/kubernetes/deployment.yaml %D%/kubernetes/sidecar.yaml

# Examples of the library: built by check, and run by tests/integration/examples.sh.
examples = \
	%D%/examples/http-server \
	%D%/examples/sd-event-server \
	%D%/examples/threaded-tcp-server \
	%D%/examples/worker-pool
EXTRA_PROGRAMS += $(examples)
check_DATA     += $(examples)
CLEANFILES     += $(examples)

%C%_examples_http_server_SOURCES = %D%/examples/http-server.c
%C%_examples_http_server_CFLAGS  = $(AM_CFLAGS) $(SYSTEMD_CFLAGS) -pthread
%C%_examples_http_server_LDADD   = src/swansong/libswansong.la $(SYSTEMD_LIBS)
# Supervisors are measured with it: no shell in front that finds the library.
%C%_examples_http_server_LDFLAGS = $(AM_LDFLAGS) -no-install
%C%_examples_sd_event_server_SOURCES = %D%/examples/sd-event-server.c
%C%_examples_sd_event_server_CFLAGS  = $(AM_CFLAGS) $(SYSTEMD_CFLAGS)
%C%_examples_sd_event_server_LDADD   = src/swansong/libswansong.la $(SYSTEMD_LIBS)
%C%_examples_threaded_tcp_server_SOURCES = %D%/examples/threaded-tcp-server.c
%C%_examples_threaded_tcp_server_CFLAGS  = $(AM_CFLAGS) -pthread
%C%_examples_threaded_tcp_server_LDADD   = src/swansong/libswansong.la
%C%_examples_worker_pool_SOURCES = %D%/examples/worker-pool.c
%C%_examples_worker_pool_CFLAGS  = $(AM_CFLAGS) $(SYSTEMD_CFLAGS) -pthread
%C%_examples_worker_pool_LDADD   = src/swansong/libswansong-loop.la src/swansong/libswansong.la $(SYSTEMD_LIBS)

# Packages for Debian, in the folder deb, for the release that this machine runs.
EXTRA_DIST  += %D%/packaging
DPKG_BUILD   = dpkg-buildpackage --no-sign
.PHONY: deb
deb: dist
	rm -rf deb && mkdir deb
	cp $(distdir).tar.xz deb/$(PACKAGE)_$(VERSION).orig.tar.xz
	tar -C deb -xf $(distdir).tar.xz
	cp -R deb/$(distdir)/contrib/packaging/debian deb/$(distdir)/
	cd deb/$(distdir) && $(DPKG_BUILD)

# The same by rpmbuild, in the folder rpm; RPMBUILDFLAGS=--nodeps where the system is no rpm one.
RPMBUILD = rpmbuild $(RPMBUILDFLAGS) -ba
.PHONY: rpm
rpm: dist
	rm -rf rpm && mkdir -p rpm/SOURCES
	cp $(distdir).tar.xz rpm/SOURCES/
	$(RPMBUILD) --define "_topdir $$PWD/rpm" $(srcdir)/contrib/packaging/swansong.spec

# The programs and libraries of the build, and what they are linked with, as SPDX.
.PHONY: bill-of-materials
bill-of-materials: all
	$(srcdir)/%D%/packaging/bill-of-materials . $(VERSION) >$(PACKAGE)-$(VERSION).spdx.json
CLEANFILES += $(PACKAGE)-$(VERSION).spdx.json

# `make site` makes the site of a release in the folder site, which needs no server: mandoc and graphviz make it.  With
# SITE_URL, SITE_CONTACT and SITE_POLICY it has a security.txt for a year.
EXTRA_PROGRAMS += %D%/site/pictures
check_DATA     += %D%/site/pictures
CLEANFILES     += %D%/site/pictures
%C%_site_pictures_LDADD = src/model/libmodel.la
site_files = $(srcdir)/man/style.css $(srcdir)/man/shutdown-page.png $(srcdir)/man/swansong-plot.svg $(srcdir)/%D%/site/search.js
site_folder = site
.PHONY: site
site: html %D%/site/pictures
	for name in run stop goals; do \
		%D%/site/pictures $$name >"$(html_folder)/$$name.dot" && \
		dot -Tsvg "$(html_folder)/$$name.dot" >"$(html_folder)/$$name.svg" || exit; \
	done
	rm -rf "$(site_folder)" && $(MKDIR_P) "$(site_folder)"
	$(srcdir)/%D%/site/make-site $(VERSION) $(srcdir) "$(html_folder)" "$(site_folder)"
	cp $(site_files) "$(site_folder)"
	[ -z "$(SITE_URL)" ] || { $(MKDIR_P) "$(site_folder)/.well-known" && \
		$(SED) -e '/^#/d' -e 's,@CONTACT@,$(SITE_CONTACT),; s,@POLICY@,$(SITE_POLICY),' \
			-e "s,@EXPIRES@,`date -u -d '1 year' +%Y-%m-%dT00:00:00Z`,; s,@CANONICAL@,$(SITE_URL)/.well-known/security.txt," \
			$(srcdir)/%D%/security.txt >"$(site_folder)/.well-known/security.txt"; }
EXTRA_DIST += %D%/security.txt %D%/openssf/README.md %D%/site/make-site %D%/site/search.js %D%/site/index.html %D%/site/tutorial.html \
	%D%/site/how.html %D%/site/guards.html %D%/site/moving.html
