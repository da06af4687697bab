dist_check_SCRIPTS += \
	%D%/layers.sh \
	%D%/order.sh \
	%D%/commands.sh \
	%D%/completion.sh \
	%D%/contrib.sh \
	%D%/headers.sh \
	%D%/install.sh \
	%D%/keys.sh \
	%D%/migration.sh \
	%D%/pages.sh \
	%D%/readme.sh \
	%D%/symbols.sh \
	%D%/unit.sh \
	%D%/shell.sh
EXTRA_DIST += .shellcheckrc %D%/lib.sh
