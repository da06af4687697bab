# mdoc pages, one line each, so that two changes seldom meet.
dist_man_MANS += %D%/swansong.ini.5
dist_man_MANS += %D%/swansong-report.5
dist_man_MANS += %D%/libswansong.3
dist_man_MANS += %D%/swansong_new.3
dist_man_MANS += %D%/swansong_guard.3
dist_man_MANS += %D%/swansong_completion_new.3
dist_man_MANS += %D%/swansong_interrupt_new.3
dist_man_MANS += %D%/swansong-guard.7
dist_man_MANS += %D%/swansong-init.1
dist_man_MANS += %D%/swansong-migration.7
dist_man_MANS += %D%/swansongctl.1
dist_man_MANS += %D%/swansongd.8
dist_man_MANS += %D%/swansong_interrupt_read.3
dist_man_MANS += %D%/swansong_registry_new.3
dist_man_MANS += %D%/swansong_loop_new.3
dist_man_MANS += %D%/swansong_pool_new.3
dist_man_MANS += %D%/swansong_report.3
dist_man_MANS += %D%/swansong_attach.3

# For README.md.
EXTRA_DIST += %D%/swansong-plot.svg
