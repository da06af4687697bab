# Examples, installed with the documentation.
examplesdir           = $(docdir)/examples
dist_examples_DATA    = %D%/swansong.ini %D%/demo.ini %D%/tour.ini
# The services of demo.ini, which is started beside them.
dist_examples_SCRIPTS = %D%/demo-service.sh
EXTRA_DIST           += %D%/demo.sh

# So that a fresh daemon starts.  The administrator's own is never replaced, and removed only unchanged.
EXTRA_DIST += %D%/empty.ini
install-data-local:
	$(MKDIR_P) "$(DESTDIR)$(sysconfdir)/swansong/conf.d"
	test -e "$(DESTDIR)$(sysconfdir)/swansong/swansong.ini" || \
		$(INSTALL_DATA) $(top_srcdir)/conf/empty.ini "$(DESTDIR)$(sysconfdir)/swansong/swansong.ini"
uninstall-local:
	if cmp -s $(top_srcdir)/conf/empty.ini "$(DESTDIR)$(sysconfdir)/swansong/swansong.ini"; then \
		rm -f "$(DESTDIR)$(sysconfdir)/swansong/swansong.ini"; \
	fi
	rmdir "$(DESTDIR)$(sysconfdir)/swansong/conf.d" "$(DESTDIR)$(sysconfdir)/swansong" 2>/dev/null || :
