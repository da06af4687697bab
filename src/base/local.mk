noinst_LTLIBRARIES += %D%/libbase.la
%C%_libbase_la_SOURCES = \
	%D%/macro.h %D%/cleanup.h %D%/list.h %D%/attributes.h \
	%D%/text.h %D%/text.c \
	%D%/clock.h %D%/clock.c \
	%D%/fd.h %D%/fd.c \
	%D%/dict.h %D%/dict.c \
	%D%/parse.h %D%/parse.c \
	%D%/std.h \
	%D%/log.h %D%/log.c \
	%D%/page.h
EXTRA_DIST += %D%/protections

# PROTECTION("word") of each line of that kind, and so on; a kind without a definition is empty.
%D%/protections.inc: %D%/protections
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { \
		for i in PROTECTION CALL PATH CAPABILITY FAMILY; do printf '#ifndef %s_ROW\n#define %s_ROW(...)\n#endif\n' $$i $$i; done; \
		$(SED) -n -e 's/^word \(.*\)/PROTECTION_ROW("\1")/p' -e 's/^call \([^ ]*\) \([^ ]*\) *\(.*\)/CALL_ROW("\1", "\2", \3)/p' \
			-e 's/^path \([^ ]*\) \([^ ]*\) \(.*\)/PATH_ROW("\1", "\2", \3)/p' \
			-e 's/^capability \([^ ]*\) \(.*\)/CAPABILITY_ROW("\1", \2)/p' \
			-e 's/^family \([^ ]*\) \(.*\)/FAMILY_ROW("\1", \2)/p' $(srcdir)/%D%/protections; \
		for i in PROTECTION CALL PATH CAPABILITY FAMILY; do echo "#undef $${i}_ROW"; done; } >$@.new && mv $@.new $@
CLEANFILES += %D%/protections.inc
