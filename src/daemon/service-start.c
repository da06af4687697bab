#include "daemon/service-start.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "daemon/service-notify.h"
#include "daemon/setup.h"

static int start_readiness(struct service *s, bool ready_fd_given)
{
	if (!s->readiness || (s->launch.config->ready.kind == PROBE_FD && !ready_fd_given))
		return 0;
	return readiness_start(s->readiness, &s->main);
}

/* Its end of a control connection, whose other end is waited for already; or -errno. */
static int open_control(struct service *s)
{
	const struct control_offer *control = &s->ctx->control;
	int fds[2], r;

	if (!control->accept)
		return -EOPNOTSUPP;
	r = unix_pair(fds);
	if (r < 0)
		return r;
	r = control->accept(s->config->path, fds[0], control->arg);
	if (r < 0) {
		(void)fd_close(fds[1]);
		return r;
	}
	return fds[1];
}

static void spawn_failed(struct service *s, const struct launch_failure *failure)
{
	s->outcome = (struct outcome){
		.kind = OUTCOME_SPAWN_FAILED,
		.value = failure->error,
		.step = failure->step,
		.subject = failure->subject,
	};
	service_look_after(s);
}

void service_begin(struct service *s)
{
	uint64_t now = clock_now_usec();

	service_use_next_setup(s);
	s->outcome = (struct outcome){ .kind = OUTCOME_NONE,
				       .was_ready = s->launch.config->type == TYPE_ONESHOT };
	s->started_usec = now;
	s->start_limit_usec = clock_add(now, s->config->start_timeout_usec);
	s->stop_limit_usec = USEC_INFINITY;
	s->was_up = s->worked = s->concluded = s->late = s->killed = false;
	service_notify_begin(s);
}

void service_spawn(struct service *s)
{
	const struct node_config *config = s->launch.config; /* a reload may have come in between */
	cleanup(closep) int ready_fd = -1;
	cleanup(closep) int control_fd = -1;
	struct swansong_guard before = s->main.guard;
	struct launch_program program = { .argv = config->argv, .main = true };
	struct launch_failure failure;
	pid_t pid;
	int pidfd;

	s->started_usec = clock_now_usec();
	if (config->ready.kind == PROBE_FD) {
		ready_fd = readiness_open_fd(s->readiness);
		if (ready_fd < 0) {
			failure = (struct launch_failure){ .error = -ready_fd,
							   .step = "make a pipe" };
			spawn_failed(s, &failure);
			return;
		}
	}
	if (config->control) {
		control_fd = open_control(s);
		if (control_fd < 0) {
			failure = (struct launch_failure){ .error = -control_fd,
							   .step = "connect it with us" };
			spawn_failed(s, &failure);
			return;
		}
	}
	/* Before anything can fail: from here on a stop waits for it. */
	s->main.guard = swansong_guard(s->node->work);
	s->main.generation = s->node->generation;
	swansong_guard_drop(&before);
	program.ready_fd = ready_fd;
	program.handover = &(struct handover){ "SWANSONG_CONTROL", control_fd };
	program.n_handover = control_fd >= 0;
	if (launch(&s->launch, s->ctx, &program, &pid, &pidfd, &failure) != 0) {
		spawn_failed(s, &failure);
		return;
	}
	process_add(s->ctx->processes, &s->main, pid, pidfd);
	s->main.group = pid;
	s->main.id = ++s->ctx->last_id;
	process_name(&s->main, config->argv[0]);
	log_line(s->ctx->log, LOG_INFO, "%s: started, pid %d", s->config->path, (int)pid);
	if (start_readiness(s, ready_fd >= 0) < 0)
		log_line(s->ctx->log, LOG_ERR, "%s: cannot watch for its readiness",
			 s->config->path);
	if (config->ready.kind == PROBE_STARTED && config->type == TYPE_SIMPLE)
		service_post(s, EVENT_READY);
}
