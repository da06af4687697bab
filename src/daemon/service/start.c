/*
 * The descriptors of a run are made before its process: the pipe of readiness, the control
 * connection and the page of guards.  The guard of the main process is taken first, as a stop waits
 * for a start from then on.  A failure at any step becomes the outcome of the run.
 */
#include "daemon/service/start.h"

#include "daemon/probe/attempt.h"
#include "daemon/service/main-process.h"
#include "daemon/service/notify.h"
#include "daemon/service/setup.h"
#include "model/keys/keys.h"

/*
 * Returns the service's end of a new control connection, whose other end the daemon reads; or
 * -errno.
 */
static int service_open_control(struct service *s)
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

static void service_note_spawn_failure(struct service *s, const struct launch_failure *failure)
{
	capture_run(s->setup.launch.capture, 0, 0);
	/* If a timeout or a stop came before, that is the outcome; the failure is its consequence. */
	if (s->run.outcome.kind == OUTCOME_NONE)
		s->run.outcome = (struct outcome){
			.kind = OUTCOME_SPAWN_FAILED,
			.value = failure->error,
			.step = failure->step,
			.subject = failure->subject,
		};
	service_check_exits(s);
}

void service_begin(struct service *s)
{
	uint64_t now = clock_now_usec();

	service_use_next_setup(s);
	s->run.generation = s->node->generation;
	s->not_before_usec = 0;
	s->group.refused = false;
	/* A run from before a fault keeps its number. */
	if (!s->main.alive)
		control_group_number(&s->group,
				     s->setup.launch.config->handover ? s->node->generation : 0);
	s->run.outcome =
		(struct outcome){ .kind = OUTCOME_NONE,
				  .was_ready = s->setup.launch.config->type == TYPE_ONESHOT };
	s->run.started_usec = now;
	s->looked.of_run = false;
	s->start_limit_usec = clock_add(now, s->config->start_timeout_usec);
	s->ending = (struct ending){ 0 };
	s->run.was_up = s->run.worked = s->run.concluded = s->run.late = s->run.killed = false;
	s->run.found = s->run.chained = false;
	service_notify_begin(s);
}

/* Descriptors of a run besides the standard streams. */
struct given {
	int ready_fd, socket, control; /* -1: none */
	struct handover handover[ATTACH_HANDOVER + 1];
	size_t n;
};

static void service_given_done(struct given *given)
{
	(void)fd_close(given->ready_fd);
	(void)fd_close(given->socket);
	(void)fd_close(given->control);
}

/* Return: 0, or -errno with the failed operation in *step. */
static int service_make_given(struct service *s, struct given *given, const char **step)
{
	int r;

	if (s->setup.launch.activation) {
		*step = "open its sockets";
		r = activation_listen(s->setup.launch.activation);
		if (r < 0)
			return r;
	}
	if (s->setup.launch.config->ready.kind == PROBE_FD) {
		*step = "make a pipe";
		given->ready_fd = readiness_open_fd(s->setup.extras->readiness);
		if (given->ready_fd < 0)
			return given->ready_fd;
	}
	/* The control connection comes first: a shell may only know descriptors below 10. */
	if (s->setup.launch.config->control) {
		*step = "make a control connection";
		given->control = service_open_control(s);
		if (given->control < 0)
			return given->control;
		given->handover[given->n++] =
			(struct handover){ "SWANSONG_CONTROL", given->control };
	}
	if (s->setup.extras->attach) {
		*step = "make a page for its guards";
		r = attach_begin(s->setup.extras->attach, &given->handover[given->n],
				 &given->socket);
		if (r < 0)
			return r;
		given->n += ATTACH_HANDOVER;
	}
	return 0;
}

/* Begins to find out whether the main process is ready. */
static void service_await_readiness(struct service *s, bool ready_fd_given)
{
	const struct node_config *config = s->setup.launch.config;

	if (s->setup.extras->readiness && (config->ready.kind != PROBE_FD || ready_fd_given) &&
	    readiness_start(s->setup.extras->readiness, &s->main) < 0)
		service_log(s, LOG_ERR, "cannot watch for readiness");
	if (config->ready.kind == PROBE_STARTED && config->type != TYPE_ONESHOT &&
	    !s->setup.extras->readiness)
		service_post(s, EVENT_READY);
}

bool service_take_main(struct service *s)
{
	const char *why;

	if (service_find_main(s, &why) < 0)
		return false;
	service_log(s, LOG_INFO, "main process is pid %d (%s)", (int)s->main.pid, s->main.name);
	service_await_readiness(s, false);
	return true;
}

void service_explain_main(struct service *s)
{
	const char *why;

	if (service_find_main(s, &why) == 0)
		return;
	s->run.outcome.subject = node_config_extras(s->setup.launch.config)->pid_file;
	s->run.outcome.unfound = why;
	service_log(s, LOG_ERR, "no main process: pid-file %s: %s", s->run.outcome.subject, why);
}

void service_spawn(struct service *s)
{
	const struct node_config *config =
		s->setup.launch.config; /* a reload may have changed the latest configuration */
	cleanup(service_given_done) struct given given = { .ready_fd = -1,
							   .socket = -1,
							   .control = -1 };
	struct swansong_guard before = s->main.guard;
	struct launch_program program = { .argv = config->argv, .main = true };
	struct launch_failure failure;
	const char *step;
	int r;

	s->run.started_usec = clock_now_usec();
	s->looked.of_run = false;
	/* The guard is taken before anything can fail: a stop waits for the run from here on. */
	s->main.guard = swansong_guard(s->node->work);
	s->main.kept = false;
	s->main.generation = s->node->generation;
	swansong_guard_drop(&before);
	r = service_make_given(s, &given, &step);
	if (r < 0) {
		failure = (struct launch_failure){ .error = -r, .step = step };
		service_note_spawn_failure(s, &failure);
		return;
	}
	if (s->setup.extras->readiness)
		readiness_prepare(s->setup.extras->readiness);
	program.ready_fd = given.ready_fd;
	program.handover = given.handover;
	program.n_handover = given.n;
	capture_run(s->setup.launch.capture, 0, s->node->generation);
	if (launch(&s->setup.launch, s->ctx, &program, &s->main, &failure) != 0) {
		service_note_spawn_failure(s, &failure);
		return;
	}
	capture_run(s->setup.launch.capture, s->main.pid, s->node->generation);
}

bool service_awaits_program(const struct service *s, struct launch_failure *step)
{
	const struct spawn_failure at = { .step = spawn_step_of(&s->main.spawning) };

	if (at.step == SPAWN_STEP_NONE)
		return false;
	*step = launch_explain(&s->setup.launch, s->setup.launch.config->argv[0], &at);
	return true;
}

void service_settle_start(struct service *s, const struct spawn_failure *why)
{
	s->ctx->changes++;
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit own = { 0 };

		if (!(why->lowered & 1U << i))
			continue;
		(void)getrlimit((__rlimit_resource_t)i, &own);
		service_log(s, LOG_WARNING,
			    "%s lowered to %ju: the daemon has no right to raise its hard limit",
			    keys_limit_name(i), (uintmax_t)own.rlim_max);
	}
	if (why->lowered & SPAWN_OOM_SCORE_KEPT)
		service_log(s, LOG_WARNING, "oom-score-adjust not set: the daemon has no right to lower its own");
	if (why->lowered & SPAWN_NICE_KEPT)
		service_log(s, LOG_WARNING, "nice not set: the daemon has no right to lower its own");
	for (enum spawn_step step = 0; step < N_SPAWN_STEPS; step++)
		if (why->skipped >> step & 1)
			service_log(s, LOG_WARNING, "cannot %s: started without that (sandbox = best-effort)",
				    spawn_step_text(step));
	if (why->step != SPAWN_STEP_NONE) {
		const char *program = s->setup.launch.config->argv[0];
		const struct launch_failure failure =
			launch_explain(&s->setup.launch, program, why);

		launch_ended(&s->setup.launch, s->main.group);
		process_forget(&s->main);
		service_note_spawn_failure(s, &failure);
		return;
	}
	service_log(s, LOG_INFO, "started, pid %d", (int)s->main.pid);
	service_update_roster(s);
	if (s->state == STATE_STARTING && s->setup.launch.config->type != TYPE_FORKING)
		service_await_readiness(s, true);
}

void service_settle_process(struct process *process, const struct spawn_failure *why, int refused)
{
	if (refused && process->service) {
		control_group_refused(&process->service->group, refused);
		service_update_roster(process->service);
	}
	if (process->kind == PROCESS_MAIN)
		service_settle_start(process->service, why);
	else if (process->kind == PROCESS_HOOK)
		hook_settle_start(process, why);
	else if (why->step != SPAWN_STEP_NONE && process->kind == PROCESS_PROBE)
		probe_failed(process, why);
}
