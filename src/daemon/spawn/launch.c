/*
 * All strings and sets that can be known in advance are made with the configuration.  A start
 * merges them into the memory of the context, plans descriptors and streams, and calls spawn().
 * The order of precedence of variables is: the environment of the daemon, the node, the run.
 */
#include "daemon/spawn/launch.h"

#include "daemon/spawn/command.h"
#include "daemon/spawn/sandbox.h"
#include "daemon/spawn/starts.h"
#include "daemon/streams/streams.h"
#include "sys/file/path.h"
#include "sys/ipc/journal.h"

#define NODE_VARIABLE	 "SWANSONG_NODE="
/* NODE_VARIABLE, the mark, and of a start */
#define RUN_VARIABLES (2 + ACTIVATION_VARIABLES + HANDOVER_MAX)

/* Adds a variable, which it takes; NULL: out of memory. */
static int launch_add_text(struct launch_extras *extras, char *variable)
{
	/* With room for a NULL. */
	int r = variable ? array_reserve(extras->environment, extras->n_environment + 1) : -ENOMEM;

	if (r < 0) {
		free(variable);
		return r;
	}
	extras->environment[extras->n_environment++] = variable;
	extras->environment[extras->n_environment] = NULL;
	return 0;
}

static int launch_add_variable(struct launch_extras *extras, const char *name, const char *value)
{
	return launch_add_text(extras, text_format("%s=%s", name, value));
}

static int launch_add_number(struct launch_extras *extras, const char *name, uint64_t value)
{
	return launch_add_text(extras, text_format("%s=%" PRIu64, name, value));
}

/* Adds the variables that sd_notify(3) and sd_watchdog_enabled(3) read. */
static int launch_add_notify_variables(struct launch *launch, const char *address)
{
	const struct extras *config = node_config_extras(launch->config);
	struct launch_extras *extras = launch->extras;
	int r = launch_add_variable(extras, "NOTIFY_SOCKET", address);

	if (r == 0 && config->watchdog_usec)
		r = launch_add_number(extras, "WATCHDOG_USEC", config->watchdog_usec);
	if (r == 0 && config->watchdog_usec) {
		/* The child writes its pid there. */
		char blank[SPAWN_PID_MAX];

		memset(blank, '0', sizeof(blank) - 1);
		blank[sizeof(blank) - 1] = '\0';
		r = launch_add_variable(extras, "WATCHDOG_PID", blank);
		if (r == 0)
			extras->watchdog_pid =
				strchr(extras->environment[extras->n_environment - 1], '=') + 1;
	}
	if (r == 0 && config->fd_store_max)
		r = launch_add_number(extras, "FDSTORE", config->fd_store_max);
	return r;
}

static bool launch_writes_to_journal(const struct node_config *config)
{
	return node_config_output(config, 1)->kind == OUTPUT_JOURNAL ||
	       node_config_output(config, 2)->kind == OUTPUT_JOURNAL;
}

/* Adds a variable whose value is written at each start. */
static int launch_add_journal_stream(struct launch_extras *extras)
{
	static const char name[] = "JOURNAL_STREAM=";
	char *variable = calloc(1, sizeof(name) + JOURNAL_STREAM_MAX);

	if (variable)
		extras->journal_stream = stpcpy(variable, name);
	return launch_add_text(extras, variable);
}

/* Most services have no variables of their own. */
static int launch_build_environment(struct launch *launch, const char *notify_address)
{
	const struct node_config *config = launch->config;
	const struct credentials *credentials = &node_config_extras(config)->credentials;
	struct launch_extras *extras = launch->extras;
	int r = 0;

	if (credentials->set && credentials->home)
		r = launch_add_variable(extras, "HOME", credentials->home);
	if (r == 0 && credentials->set && credentials->shell)
		r = launch_add_variable(extras, "SHELL", credentials->shell);
	if (r == 0 && credentials->login)
		r = launch_add_variable(extras, "USER", credentials->login);
	if (r == 0 && credentials->login)
		r = launch_add_variable(extras, "LOGNAME", credentials->login);
	for (char **v = config->environment; r == 0 && v && *v; v++)
		r = launch_add_text(extras, strdup(*v));
	/* These come after the node's own, which cannot override them. */
	for (size_t i = 0; r == 0 && extras->chores && i < CHORES_VARIABLES; i++)
		if (extras->chores->variables[i])
			r = launch_add_text(extras, take(extras->chores->variables[i]));
	if (r == 0 && notify_address)
		r = launch_add_notify_variables(launch, notify_address);
	if (r == 0 && launch_writes_to_journal(config))
		r = launch_add_journal_stream(extras);
	return r;
}

static const struct launch_extras launch_no_extras;

int launch_init(struct launch *launch, struct context *ctx, const struct node_config *config,
		const char *notify_address, struct activation *activation)
{
	const struct credentials *credentials = &node_config_extras(config)->credentials;
	int r;

	*launch = (struct launch){
		.config = config,
		.activation = activation,
		.extras = calloc(1, sizeof(*launch->extras)),
	};
	if (!launch->extras)
		return -ENOMEM;
	r = chores_new(&launch->extras->chores, config);
	if (r == 0)
		r = launch_build_environment(launch, notify_address);
	if (r == 0)
		r = context_reserve_environment(ctx, launch->extras->n_environment +
							     LAUNCH_VARIABLES_MAX + RUN_VARIABLES);
	if (r == 0)
		r = capture_new(&launch->capture, ctx, config);
	if (r == 0)
		r = sandbox_new(&launch->extras->sandbox, config);
	if (r == 0 && (credentials->set || credentials->n_groups > 0))
		r = credentials_groups(credentials, credentials->gid, &launch->extras->groups,
				       &launch->extras->n_groups);
	if (r == 0 && memcmp(launch->extras, &launch_no_extras, sizeof(launch_no_extras)) == 0) {
		free(launch->extras);
		launch->extras = (struct launch_extras *)&launch_no_extras;
	}
	return r;
}

void launch_done(struct launch *launch)
{
	struct launch_extras *extras = launch->extras;

	capture_free(launch->capture);
	for (size_t i = 0; extras && i < extras->n_environment; i++)
		free(extras->environment[i]);
	if (extras && extras != &launch_no_extras) {
		free(extras->environment);
		free(extras->groups);
		sandbox_free(extras->sandbox);
		chores_free(extras->chores);
		free(extras);
	}
	*launch = (struct launch){ 0 };
}

static void launch_set_variables(struct context *ctx, size_t *n, char *const *variables)
{
	for (char *const *v = variables; v && *v; v++) {
		/* Sets @variable instead of all with the same name. */
		size_t length = strcspn(*v, "=") + 1, kept = 0;

		for (size_t i = 0; i < *n; i++)
			if (strncmp(ctx->environment.child[i], *v, length) != 0)
				ctx->environment.child[kept++] = ctx->environment.child[i];
		if (kept < ctx->environment.room)
			ctx->environment.child[kept++] = *v;
		*n = kept;
	}
}

static bool launch_is_passed(const struct extras *extras, const char *variable)
{
	size_t length = strcspn(variable, "=");

	if (!extras->environment_clear)
		return true;
	for (char **name = extras->environment_pass; name && *name; name++)
		if (strncmp(variable, *name, length) == 0 && !(*name)[length])
			return true;
	return false;
}

/*
 * Merges the environments of the daemon, the node and the run, in order of rising precedence.
 * Variables in @last cannot be overridden by the node, as the daemon relies on them.
 */
static void launch_merge_environment(struct context *ctx, const struct launch *launch,
				     char *const *last, char *const *variables)
{
	size_t n = 0;

	for (char *const *b = ctx->environment.given; *b && n < ctx->environment.room; b++)
		if (launch_is_passed(node_config_extras(launch->config), *b))
			ctx->environment.child[n++] = *b;
	/* Later variables win: a user's HOME may be set in the configuration. */
	launch_set_variables(ctx, &n, launch->extras->environment);
	launch_set_variables(ctx, &n, last);
	launch_set_variables(ctx, &n, variables);
	ctx->environment.child[n] = NULL;
}

static int launch_fail(struct launch_failure *failure, int error, const char *step,
		       const char *subject)
{
	*failure = (struct launch_failure){ .error = error, .step = step, .subject = subject };
	return LAUNCH_E_FAILED;
}

static const char *launch_subject_of(const struct launch *launch, const char *program,
				     const struct spawn_failure *why)
{
	const struct node_config *config = launch->config;

	switch (why->step) {
	case SPAWN_STEP_CHECK:
	case SPAWN_STEP_MAKE:
	case SPAWN_STEP_COPY:
	case SPAWN_STEP_REMOVE:
	case SPAWN_STEP_EXEC:
		return program;
	case SPAWN_STEP_ROOT:
		return node_config_extras(config)->root_directory;
	case SPAWN_STEP_DIRECTORY:
		return config->directory;
	case SPAWN_STEP_INPUT:
		return node_config_outputs(config)->stdio[0].path;
	case SPAWN_STEP_USER:
		return node_config_extras(config)->credentials.user;
	default:
		return NULL;
	}
}

struct launch_failure launch_explain(const struct launch *launch, const char *program,
				     const struct spawn_failure *why)
{
	return (struct launch_failure){
		.error = why->error,
		.step = spawn_step_text(why->step),
		.subject = launch_subject_of(launch, program, why),
	};
}

/* Descriptors besides the standard streams, and the variables that announce them. */
struct files {
	struct activation_plan activation;
	struct handover_plan handover;
	struct spawn_file few[ACTIVATION_ROOM]; /* for a launch without activation */
	char node[sizeof(NODE_VARIABLE) + CONFIG_NAME_MAX], claim[CONFIG_NAME_MAX + 1];
	char *variables[RUN_VARIABLES + 1]; /* with a NULL */
};

/* Inserts @file in the order of the numbers. */
static void launch_insert_file(struct activation_plan *plan, struct spawn_file file)
{
	size_t i = plan->n_files++;

	for (; i > 0 && plan->files[i - 1].to > file.to; i--)
		plan->files[i] = plan->files[i - 1];
	plan->files[i] = file;
}

/* @files must not move until the program is started. */
static void launch_plan_files(const struct launch *launch, const struct context *ctx,
			      const struct launch_program *program, struct files *files)
{
	struct activation_plan *plan = &files->activation;
	int ready = program->ready_fd >= 0 ? launch->config->ready.fd : -1;
	char **at;

	*plan = (struct activation_plan){ .files = files->few };
	if (launch->activation && program->main)
		activation_plan(launch->activation, plan);
	handover_plan(&files->handover, program->handover, program->n_handover,
		      ACTIVATION_FIRST_FD + (int)plan->n_files, ready);
	for (size_t i = 0; i < files->handover.n_files; i++)
		launch_insert_file(plan, files->handover.files[i]);
	if (ready >= 0)
		launch_insert_file(plan,
				   (struct spawn_file){ .from = program->ready_fd, .to = ready });
	at = files->variables;
	(void)snprintf(files->node, sizeof(files->node), NODE_VARIABLE "%s",
		       launch->group ? control_group_claim(launch->group, files->claim)
				     : launch->config->path);
	*at++ = files->node;
	if (ctx->environment.mark)
		*at++ = ctx->environment.mark;
	for (size_t i = 0; i < ACTIVATION_VARIABLES; i++)
		if (files->activation.variables[i])
			*at++ = files->activation.variables[i];
	for (size_t i = 0; i < files->handover.n_variables; i++)
		*at++ = files->handover.variables[i];
	*at = NULL;
}

/* Makes the process in its control group, or without one if the kernel refuses that. */
static int launch_make_process(const struct launch *launch, struct context *ctx,
			       struct spawn_spec *spec, struct process *process)
{
	cleanup(closep) int group = launch->group ? control_group_open(launch->group) : -1;
	int refused = 0, r;

	spec->cgroup = group < 0 ? 0 : group;
	spec->own_memory = node_config_extras(launch->config)->cgroup_memory_max != 0;
	r = starts_begin(ctx->starts, spec, process, &refused);
	if (refused)
		control_group_refused(launch->group, refused);
	return r;
}

/* Return: see launch(). */
static int launch_prepare_streams(const struct launch *launch, struct context *ctx, bool main,
				  bool terminal, struct streams *streams,
				  struct launch_failure *failure)
{
	const char *stream;
	int r = streams_open(streams, ctx, launch->config, terminal, launch->capture, &stream);

	if (r < 0)
		return launch_fail(failure, -r, "open", stream);
	if (launch->config->ready.kind == PROBE_LOG && main) {
		r = capture_mark(launch->capture);
		if (r < 0)
			return launch_fail(failure, -r, "read its output for ready = log by",
					   "swansong-logger");
	}
	if (launch->extras->journal_stream)
		(void)journal_stream_text(launch->extras->journal_stream, streams->journal);
	return 0;
}

int launch(const struct launch *launch, struct context *ctx, const struct launch_program *program,
	   struct process *process, struct launch_failure *failure)
{
	const struct node_config *config = launch->config;
	const struct credentials *credentials = &node_config_extras(config)->credentials;
	struct files files;
	struct attributes attributes;
	cleanup(streams_close) struct streams streams = STREAMS_NONE;
	/* Not for a command: it would take the terminal from the service. */
	bool terminal = config->terminal && program->main;
	/* Standard input is the terminal of the session, with the daemon in the foreground. */
	bool foreground = terminal && tcgetpgrp(STDIN_FILENO) == getpgrp();
	sigset_t none;
	int r;

	(void)sigemptyset(&none);
	r = launch_prepare_streams(launch, ctx, program->main, terminal, &streams, failure);
	if (r != 0)
		return r;
	if (program->input > 0)
		streams.fds[0] = program->input;
	if (program->output > 0) {
		streams.fds[1] = streams.fds[2] = program->output;
		streams.reopen = 0;
	}
	launch_plan_files(launch, ctx, program, &files);
	launch_merge_environment(ctx, launch, files.variables, program->variables);

	struct spawn_spec spec = {
		.argv = program->argv,
		.work = program->work,
		.mode = program->mode,
		.envp = ctx->environment.child,
		.input = program->input > 0 ? NULL : streams.input,
		.open_input = path_open,
		.root = node_config_extras(config)->root_directory,
		.directory = program->condition ? "/" : config->directory,
		.umask = config->umask,
		.set_user = credentials->set,
		.set_group = credentials->set_group,
		.set_groups = credentials->set_groups,
		.uid = credentials->uid,
		.gid = credentials->gid,
		.groups = launch->extras->groups,
		.n_groups = launch->extras->n_groups,
		.stdio = { streams.fds[0], streams.fds[1], streams.fds[2] },
		.reopen = streams.reopen,
		.files = files.activation.files,
		.n_files = files.activation.n_files,
		.pid_places = { program->main ? launch->extras->watchdog_pid : NULL,
				files.activation.pid },
		.take_terminal = terminal && !foreground,
		.keep_session = foreground,
		.terminal = STDIN_FILENO,
		.descriptors = ctx->descriptors.raised ? &ctx->descriptors.limit : NULL,
		.file_size = program->output_limit,
		.attributes = config->parts.attributes,
		.mask = ctx->command ? &ctx->signals->mask : &none,
		.ignored = ctx->command ? &ctx->signals->ignored : NULL,
	};

	if (ctx->command)
		command_prepare(ctx->command, &spec);
	if (launch->extras->sandbox && !program->work)
		r = sandbox_wrap(launch->extras->sandbox, ctx, &files.activation, &spec,
				 &attributes);
	if (r < 0 && r != -E2BIG)
		return launch_fail(failure, -r, spawn_step_text(SPAWN_STEP_SANDBOX), NULL);
	if (r < 0)
		return launch_fail(failure, -r, "pass its variables LD_... to", "swansong-sandbox");
	r = launch_make_process(launch, ctx, &spec, process);
	return r < 0 ? launch_fail(failure, -r, "make a process", NULL) : 0;
}

void launch_ended(const struct launch *launch, pid_t group)
{
	if (launch->config->terminal && tcgetpgrp(STDIN_FILENO) == group)
		(void)tcsetpgrp(STDIN_FILENO, getpgrp());
}
