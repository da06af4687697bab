# mdoc pages, one line each, so that two changes seldom meet.
dist_man_MANS += %D%/swansong-report.5
dist_man_MANS += %D%/libswansong.3
dist_man_MANS += %D%/swansong_new.3
dist_man_MANS += %D%/swansong_guard.3
dist_man_MANS += %D%/swansong_completion_new.3
dist_man_MANS += %D%/swansong_interrupt_new.3
dist_man_MANS += %D%/swansong-guard.7
dist_man_MANS += %D%/swansong-init.1
dist_man_MANS += %D%/swansong-migration.7
dist_man_MANS += %D%/supervisord2swansong.1
dist_man_MANS += %D%/swansongctl.1
dist_man_MANS += %D%/swansongd.8
dist_man_MANS += %D%/swansong-logger.8
dist_man_MANS += %D%/swansong-exporter.8
dist_man_MANS += %D%/swansong_interrupt_read.3
dist_man_MANS += %D%/swansong_registry_new.3
dist_man_MANS += %D%/swansong_loop_new.3
dist_man_MANS += %D%/swansong_pool_new.3
dist_man_MANS += %D%/swansong_report.3
dist_man_MANS += %D%/swansong_attach.3

# For README.md.
EXTRA_DIST += %D%/swansong-plot.svg

# The table of keys fills in its lists.
man_MANS    = %D%/swansong.ini.5
EXTRA_DIST += %D%/swansong.ini.5.in
CLEANFILES += %D%/swansong.ini.5
%D%/swansong.ini.5: %D%/swansong.ini.5.in $(keys)
	$(fill_in_keys)

# The pages of the sources have the paths of a distribution, the installed ones those of the build.
install-data-hook:
	cd "$(DESTDIR)$(mandir)" && for page in man1/swansongctl.1 man1/supervisord2swansong.1 \
		man5/swansong.ini.5 man7/swansong-guard.7 man8/swansongd.8; do \
		$(SED) -e 's,/etc/swansong,$(sysconfdir)/swansong,g' \
			-e 's,/usr/share/swansong,$(pkgdatadir),g' $$page >$$page.new && \
		chmod 644 $$page.new && mv $$page.new $$page || exit 1; \
	done
