# What takes long begins first.
lints = \
	%D%/shell.sh \
	%D%/install.sh \
	%D%/cpp.sh \
	%D%/races.sh \
	%D%/snippets.sh \
	%D%/abi.sh \
	%D%/commands.sh \
	%D%/completion.sh \
	%D%/contrib.sh \
	%D%/english.sh \
	%D%/hardening.sh \
	%D%/rust.sh \
	%D%/headers.sh \
	%D%/keys.sh \
	%D%/loops.sh \
	%D%/json.sh \
	%D%/migration.sh \
	%D%/names.sh \
	%D%/pages.sh \
	%D%/paths.sh \
	%D%/readme.sh \
	%D%/rooms.sh \
	%D%/survives.sh \
	%D%/symbols.sh \
	%D%/unit.sh
dist_check_SCRIPTS += $(lints)
EXTRA_DIST += .shellcheckrc %D%/lib.sh %D%/engines.py %D%/races.c %D%/snippets.c %D%/cpp.cpp %D%/english.awk %D%/english.words \
	%D%/survives %D%/survives.awk \
	%D%/abi/libswansong.abi %D%/abi/libswansong-loop.abi
CLEANFILES += %D%/shell.good %D%/cpp.good %D%/rust.good
# make has a rule that makes a file of the script of its name, if that is newer, as in some clones.
%D%/survives: ;
