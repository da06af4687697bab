#include "daemon/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/ids.h"
#include "sys/spawn.h"

/* Room for SWANSONG_NODE, NOTIFY_SOCKET and the NULL, and for HOME, SHELL, USER and LOGNAME. */
#define OWN_VARIABLES  3
#define USER_VARIABLES 4

static int add_variable(char ***at, const char *name, const char *value)
{
	if (asprintf(*at, "%s=%s", name, value) < 0) {
		**at = NULL;
		return -ENOMEM;
	}
	(*at)++;
	return 0;
}

static int build_environment(struct launch *launch)
{
	const struct node_config *config = launch->config;
	const struct credentials *who = &config->credentials;
	char login[IDS_NAME_MAX]; /* also where the configuration has a number */
	size_t n = 0;
	char **at;
	int r;

	while (config->environment && config->environment[n])
		n++;
	at = launch->environment =
		calloc(n + OWN_VARIABLES + (who->set ? USER_VARIABLES : 0), sizeof(char *));
	if (!at)
		return -ENOMEM;
	r = 0;
	if (who->set && who->home)
		r = add_variable(&at, "HOME", who->home);
	if (r == 0 && who->set && who->shell)
		r = add_variable(&at, "SHELL", who->shell);
	if (r == 0 && who->set)
		r = add_variable(&at, "USER", ids_user_text(login, who->uid));
	if (r == 0 && who->set)
		r = add_variable(&at, "LOGNAME", ids_user_text(login, who->uid));
	for (size_t i = 0; r == 0 && i < n; i++, at++) {
		*at = strdup(config->environment[i]);
		if (!*at)
			r = -ENOMEM;
	}
	/* Last, and so not to be overridden: the daemon relies on it. */
	if (r == 0)
		r = add_variable(&at, "SWANSONG_NODE", config->path);
	if (r == 0 && launch->notify_address)
		r = add_variable(&at, "NOTIFY_SOCKET", launch->notify_address);
	return r;
}

int launch_init(struct launch *launch, struct context *ctx, const struct node_config *config,
		const char *notify_address)
{
	const struct credentials *who = &config->credentials;
	size_t own = 0;
	int r;

	*launch =
		(struct launch){ .config = config, .notify_address = notify_address, .cgroup = -1 };
	r = build_environment(launch);
	while (r == 0 && launch->environment[own])
		own++;
	if (r == 0)
		r = context_reserve_environment(ctx, own);
	if (r == 0 && who->set && who->user)
		r = ids_groups_of(who->user, who->gid, &launch->groups, &launch->n_groups);
	return r;
}

void launch_done(struct launch *launch)
{
	for (char **v = launch->environment; v && *v; v++)
		free(*v);
	free(launch->environment);
	free(launch->groups);
	*launch = (struct launch){ 0 };
}

static size_t name_length(const char *variable)
{
	return strcspn(variable, "=") + 1;
}

/* @own wins over @base. */
static void merge_environment(struct context *ctx, char *const *own)
{
	size_t n = 0;

	for (char *const *b = ctx->environment; *b && n < ctx->envp_room; b++) {
		char *const *o = own;

		while (*o && strncmp(*o, *b, name_length(*o)) != 0)
			o++;
		if (!*o)
			ctx->envp[n++] = *b;
	}
	/* Later words of the same name win: a user's HOME may be set by hand. */
	for (char *const *o = own; *o && n < ctx->envp_room; o++) {
		char *const *later = o + 1;

		while (*later && strncmp(*later, *o, name_length(*o)) != 0)
			later++;
		if (!*later)
			ctx->envp[n++] = *o;
	}
	ctx->envp[n] = NULL;
}

/* A file that somebody else may have put in the way is not written to. */
static int open_log_file(const char *path)
{
	int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	cleanup(closep) int fd = open(path, flags, 0640);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return -EPERM;
	if (fcntl(fd, F_SETFL, O_APPEND) < 0)
		return -errno;
	return take_fd(fd);
}

static int fail(struct launch_failure *failure, int error, const char *step, const char *subject)
{
	*failure = (struct launch_failure){ .error = error, .step = step, .subject = subject };
	return LAUNCH_E_FAILED;
}

/* Returns the descriptor that standard output and error become, or -errno. */
static int open_output(const struct launch *launch)
{
	switch (launch->config->log.kind) {
	case OUTPUT_FILE:
		return open_log_file(launch->config->log.path);
	case OUTPUT_NULL: {
		int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

		return fd < 0 ? -errno : fd;
	}
	case OUTPUT_INHERIT:
		break;
	}
	return -ENOENT;
}

static const char *subject(const struct launch *launch, enum spawn_step step)
{
	const struct node_config *config = launch->config;

	switch (step) {
	case SPAWN_STEP_EXEC:
		return config->argv[0];
	case SPAWN_STEP_DIRECTORY:
		return config->directory;
	case SPAWN_STEP_USER:
		return config->credentials.user;
	default:
		return NULL;
	}
}

int launch(const struct launch *launch, struct context *ctx, int ready_fd, pid_t *pid, int *pidfd,
	   struct launch_failure *failure)
{
	const struct node_config *config = launch->config;
	const struct credentials *who = &config->credentials;
	cleanup(closep) int output = -1;
	struct spawn_failure why;
	sigset_t none;
	int r;

	(void)sigemptyset(&none);
	if (config->log.kind != OUTPUT_INHERIT) {
		output = open_output(launch);
		if (output < 0)
			return fail(failure, -output, "open",
				    config->log.path ? config->log.path : "/dev/null");
	}
	merge_environment(ctx, launch->environment);

	struct spawn_spec spec = {
		.argv = config->argv,
		.envp = ctx->envp,
		.directory = config->directory,
		.umask = config->umask,
		.set_user = who->set,
		.set_group = who->set_group,
		.uid = who->uid,
		.gid = who->gid,
		.groups = launch->groups,
		.n_groups = launch->n_groups,
		.stdio = { ctx->command ? 0 : ctx->null_fd, output < 0 ? 1 : output,
			   output < 0 ? 2 : output },
		.extra = ready_fd,
		.extra_to = ready_fd < 0 ? -1 : config->ready.fd,
		.cgroup = launch->cgroup,
		.foreground = ctx->command && isatty(STDIN_FILENO) &&
			      tcgetpgrp(STDIN_FILENO) == getpgrp(),
		.descriptors = ctx->descriptors_raised ? &ctx->descriptors : NULL,
		.mask = ctx->command ? &ctx->signals->mask : &none,
		.ignored = ctx->command ? &ctx->signals->ignored : NULL,
	};

	r = spawn(&spec, pid, pidfd, &why);
	if (r < 0)
		return fail(failure, -r, "make a process", NULL);
	if (r == SPAWN_E_CHILD)
		r = fail(failure, why.error, spawn_step_text(why.step), subject(launch, why.step));
	return r != 0 && why.step == SPAWN_STEP_CGROUP ? LAUNCH_E_CGROUP : r;
}
