# mdoc pages, one line each, so that two changes seldom meet.
dist_man_MANS += %D%/swansong-report.5
dist_man_MANS += %D%/libswansong.3
dist_man_MANS += %D%/swansong_new.3
dist_man_MANS += %D%/swansong_guard.3
dist_man_MANS += %D%/swansong_completion_new.3
dist_man_MANS += %D%/swansong_interrupt_new.3
dist_man_MANS += %D%/swansong-fleet.7
dist_man_MANS += %D%/swansong-event-loops.7
dist_man_MANS += %D%/swansong-guard.7
dist_man_MANS += %D%/swansong-init.1
dist_man_MANS += %D%/swansong-migration.7
dist_man_MANS += %D%/swansong-stability.7
dist_man_MANS += %D%/swansong-convert.1
dist_man_MANS += %D%/swansongctl.1
dist_man_MANS += %D%/swansongd.8
dist_man_MANS += %D%/swansong-logger.8
dist_man_MANS += %D%/swansong-exporter.8
dist_man_MANS += %D%/swansong-inhibit.8
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

# The pages of the sources have the paths of a distribution; installed ones and HTML have those of the build.
pages_with_paths = $(SED) -e 's,/etc/swansong,$(sysconfdir)/swansong,g' -e 's,/usr/share/swansong,$(pkgdatadir),g'
install-data-hook:
	cd "$(DESTDIR)$(mandir)" && for page in $(dist_man_MANS) $(man_MANS); do \
		page=$${page##*/} && page=man$${page##*.}/$$page && \
		$(pages_with_paths) "$$page" >"$$page.new" && \
		chmod 644 "$$page.new" && mv "$$page.new" "$$page" || exit 1; \
	done
	for name in $(readers); do ln -s -f swansong-convert.1 "$(DESTDIR)$(man1dir)/$$name.1" || exit; done

# `make html` makes man/html for a web site, with links between the pages.
html_folder = %D%/html
EXTRA_DIST += %D%/style.css
html-local: $(man_MANS)
	rm -rf "$(html_folder)" && $(MKDIR_P) "$(html_folder)"
	cp $(srcdir)/%D%/style.css "$(html_folder)"
	for page in $(dist_man_MANS) $(man_MANS); do \
		[ -e "$$page" ] || page=$(srcdir)/$$page; \
		$(pages_with_paths) "$$page" >"$(html_folder)/$${page##*/}" || exit 1; \
	done
	cd "$(html_folder)" && for page in *.[1-9]; do \
		mandoc -Thtml -O 'toc,style=style.css,man=%N.%S.html;https://manpages.debian.org/%N.%S' \
			"$$page" >"$$page.html" && \
		$(SED) -n 's,^\.Nd \(.*\),<li><a href="'"$$page"'.html">'"$$page"'</a> \1</li>,p' "$$page" >>list || exit 1; \
	done
	cd "$(html_folder)" && { \
		echo '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Swansong</title>'; \
		echo '<link rel="stylesheet" href="style.css"></head><body><h1>Swansong</h1><ul>'; \
		cat list; echo '</ul></body></html>'; } >index.html && rm list *.[1-9]
clean-local:
	rm -rf %D%/html site

# The page of swansong-exporter in a shutdown, for the readme.
EXTRA_DIST += %D%/shutdown-page.png
