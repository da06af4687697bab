# The real programs together, one story a script; they lock each other out (lib.sh).
dist_check_SCRIPTS += \
	%D%/badconfig.sh \
	%D%/command.sh \
	%D%/container.sh \
	%D%/control.sh \
	%D%/crashloop.sh \
	%D%/demo.sh \
	%D%/examples.sh \
	%D%/exec-attributes.sh \
	%D%/exec-environment.sh \
	%D%/exec-streams.sh \
	%D%/exec-syslog.sh \
	%D%/exec-terminal.sh \
	%D%/faults.sh \
	%D%/final.sh \
	%D%/guard.sh \
	%D%/init-anywhere.sh \
	%D%/init-container.sh \
	%D%/init-end.sh \
	%D%/init-signals.sh \
	%D%/init-terminal.sh \
	%D%/listen.sh \
	%D%/health.sh \
	%D%/hooks.sh \
	%D%/hooks-stop.sh \
	%D%/many.sh \
	%D%/notify.sh \
	%D%/ready.sh \
	%D%/reload.sh \
	%D%/stubborn.sh \
	%D%/sweep.sh \
	%D%/systemd.sh \
	%D%/web.sh \
	%D%/order.sh \
	%D%/strategy.sh \
	%D%/remains.sh

EXTRA_DIST += %D%/lib.sh %D%/inits.sh %D%/web-tree.sh %D%/with-systemd %D%/with-podman
CLEANFILES += tests/integration.lock
