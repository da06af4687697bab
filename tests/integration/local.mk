# The real programs together, one story a script; they lock each other out (lib.sh).
dist_check_SCRIPTS += \
	%D%/attach.sh \
	%D%/attach-library.sh \
	%D%/attach-trouble.sh \
	%D%/badconfig.sh \
	%D%/budgets.sh \
	%D%/cgroup.sh \
	%D%/cgroup-killed.sh \
	%D%/cgroup-trouble.sh \
	%D%/command.sh \
	%D%/container.sh \
	%D%/container-cgroup.sh \
	%D%/control.sh \
	%D%/convert.sh \
	%D%/crashloop.sh \
	%D%/demo.sh \
	%D%/events.sh \
	%D%/examples.sh \
	%D%/exec-attributes.sh \
	%D%/exec-environment.sh \
	%D%/exec-streams.sh \
	%D%/exec-syslog.sh \
	%D%/exec-terminal.sh \
	%D%/faults.sh \
	%D%/final.sh \
	%D%/guard.sh \
	%D%/interrupt.sh \
	%D%/init-anywhere.sh \
	%D%/init-container.sh \
	%D%/init-end.sh \
	%D%/init-pause.sh \
	%D%/init-signals.sh \
	%D%/init-terminal.sh \
	%D%/kubernetes.sh \
	%D%/listen.sh \
	%D%/health.sh \
	%D%/hooks.sh \
	%D%/hooks-reload.sh \
	%D%/hooks-stop.sh \
	%D%/many.sh \
	%D%/notify.sh \
	%D%/ready.sh \
	%D%/reload.sh \
	%D%/reload-hooks.sh \
	%D%/stubborn.sh \
	%D%/stop-keys.sh \
	%D%/stop-keys-marked.sh \
	%D%/sweep.sh \
	%D%/systemd.sh \
	%D%/transient.sh \
	%D%/systemd-cgroup.sh \
	%D%/trouble-bomb.sh \
	%D%/trouble-clock.sh \
	%D%/trouble-descriptors.sh \
	%D%/trouble-disk.sh \
	%D%/trouble-hooks.sh \
	%D%/trouble-inject.sh \
	%D%/trouble-killed.sh \
	%D%/trouble-listen.sh \
	%D%/trouble-orphans.sh \
	%D%/trouble-spawn.sh \
	%D%/trouble-stop.sh \
	%D%/trouble-stopped.sh \
	%D%/web.sh \
	%D%/zero-loss.sh \
	%D%/order.sh \
	%D%/plan.sh \
	%D%/python.sh \
	%D%/strategy.sh \
	%D%/report.sh \
	%D%/remains.sh

EXTRA_DIST += %D%/lib.sh %D%/attach-lib.sh %D%/cgroup-lib.sh %D%/inits.sh %D%/web-tree.sh %D%/with-systemd %D%/with-podman
EXTRA_DIST += \
	%D%/convert/asgi.conf \
	%D%/convert/bad.conf \
	%D%/convert/bench.conf \
	%D%/convert/celery.conf \
	%D%/convert/celery.d/beat.conf \
	%D%/convert/queue.conf \
	%D%/convert/run.conf \
	%D%/convert/switch.conf \
	%D%/convert/tell \
	%D%/convert/web.conf
CLEANFILES += tests/integration.lock
