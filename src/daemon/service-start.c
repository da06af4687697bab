#include "daemon/service-start.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "daemon/service-cgroup.h"

static int start_probe(struct service *s, bool ready_fd_given)
{
	if (!s->probe || (s->config->ready.kind == READY_FD && !ready_fd_given))
		return 0;
	return probe_start(s->probe);
}

static void note_name(struct process *p, const char *argv0)
{
	const char *slash = strrchr(argv0, '/');

	strncpy(p->name, slash && slash[1] ? slash + 1 : argv0, sizeof(p->name) - 1);
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

static int launch_in_cgroup(struct service *s, int ready_fd, pid_t *pid, int *pidfd,
			    struct launch_failure *failure)
{
	int r;

	s->launch.cgroup = service_cgroup_open(s);
	r = launch(&s->launch, s->ctx, ready_fd, pid, pidfd, failure);
	s->launch.cgroup = fd_close(s->launch.cgroup);
	if (r != LAUNCH_E_CGROUP)
		return r;
	service_cgroup_refused(s, failure->error);
	return launch(&s->launch, s->ctx, ready_fd, pid, pidfd, failure);
}

void service_spawn(struct service *s)
{
	cleanup(closep) int ready_fd = -1;
	struct launch_failure failure;
	pid_t pid;
	int pidfd;

	s->outcome = (struct outcome){ .kind = OUTCOME_NONE,
				       .was_ready = s->config->type == TYPE_ONESHOT };
	s->started_usec = clock_now_usec();
	s->stop_limit_usec = USEC_INFINITY;
	s->killed = false;
	if (s->notify)
		notify_clear_status(s->notify);
	if (s->config->ready.kind == READY_FD) {
		ready_fd = probe_open_fd(s->probe);
		if (ready_fd < 0) {
			failure = (struct launch_failure){ .error = -ready_fd,
							   .step = "make a pipe" };
			spawn_failed(s, &failure);
			return;
		}
	}
	/* Before anything can fail: from here on a stop waits for it. */
	s->main.guard = swansong_guard(s->node->handle);
	s->main.generation = s->node->generation;
	if (launch_in_cgroup(s, ready_fd, &pid, &pidfd, &failure) != 0) {
		spawn_failed(s, &failure);
		return;
	}
	process_add(s->ctx->processes, &s->main, pid, pidfd);
	s->main.group = pid;
	s->main.id = ++s->ctx->last_id;
	note_name(&s->main, s->config->argv[0]);
	log_line(s->ctx->log, LOG_INFO, "%s: started, pid %d", s->config->path, (int)pid);
	if (s->notify)
		notify_set_session(s->notify, pid);
	if (start_probe(s, ready_fd >= 0) < 0)
		log_line(s->ctx->log, LOG_ERR, "%s: cannot watch for its readiness",
			 s->config->path);
	if (s->config->ready.kind == READY_STARTED && s->config->type == TYPE_SIMPLE)
		service_post(s, EVENT_READY);
}
