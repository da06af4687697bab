/*
 * The child writes a line for each service into a memory file: its pid, before it looks at it, and then the result.  So
 * the last line of a child that was held up names the service, and the next child goes on behind it.
 */
#include "daemon/demand/programs.h"

#include "sys/process/usage.h"

#define PROGRAMS_TIMEOUT_USEC \
	(3 * USEC_PER_SEC)   /* limit of a look; age up to which a result is used */
#define PROGRAMS_HELD_UP 1   /* seconds; at one service */
#define PROGRAMS_UNKNOWN "?" /* instead of a path */

static void programs_look_at(pid_t pid, void *arg)
{
	const char **result = arg;
	char *file;
	int r = **result == '/' ? 0 : proc_find_replaced(pid, &file);

	if (r != 0 && r != -ENOENT)
		*result = r == 1 ? file : PROGRAMS_UNKNOWN;
}

static struct service *programs_next(const struct programs *p, struct node **node)
{
	while ((*node = *node ? node_next(*node, p->tree->root) : p->tree->root)) {
		struct service *s = (*node)->service;

		if (s && s->main.alive && s->looked.number != p->begun)
			return s;
	}
	return NULL;
}

/* In the child, which ends by a signal where it is held up. */
static int programs_look_at_all(void *arg)
{
	const struct programs *p = arg;
	char name[CGROUP_NAME_MAX], claim[CONFIG_NAME_MAX + 1];
	struct snapshot snapshot = { .n = 0 };
	struct node *node = NULL;
	struct service *s;
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (signal(SIGALRM, SIG_DFL) == SIG_ERR || dup2(p->fd, STDOUT_FILENO) < 0)
		return -errno;
	fd_close_above(STDERR_FILENO);
	while ((s = programs_next(p, &node))) {
		const char *result = "";

		(void)alarm(PROGRAMS_HELD_UP);
		(void)dprintf(STDOUT_FILENO, "%d\t", (int)s->main.pid);
		cgroups_name(name, control_group_claim(&s->group, claim));
		if (usage_each_process(&snapshot, s->main.pid, name, programs_look_at, &result) < 0)
			result = PROGRAMS_UNKNOWN;
		(void)dprintf(STDOUT_FILENO, "%s\n", result);
	}
	return 0;
}

static void programs_note(const struct programs *p, struct service *s, const char *result)
{
	free(s->looked.file);
	s->looked = (struct looked){
		.number = p->begun,
		.started_usec = s->run.started_usec,
		.file = strcmp(result, PROGRAMS_UNKNOWN) == 0 ? NULL : strdup(result),
	};
}

/* Takes the results of the child; the service that it is held up at is unknown. */
static void programs_take(struct programs *p)
{
	FILE *file = p->fd < 0 ? NULL : fdopen(dup(p->fd), "r");
	cleanup(freep) char *line = NULL;
	size_t size = 0;

	if (!file)
		return;
	(void)dprintf(p->fd, PROGRAMS_UNKNOWN "\n");
	rewind(file);
	while (getline(&line, &size, file) >= 0) {
		struct process *process = process_find(p->tree->ctx->processes, atoi(line));
		char *result = strchr(line, '\t');

		line[strcspn(line, "\n")] = '\0';
		if (result && process && process->service)
			programs_note(p, process->service, result + 1);
	}
	(void)fclose(file);
}

static void programs_on_ended(struct closer *closer)
{
	struct programs *p = container_of(closer, struct programs, closer);
	struct node *node = NULL;
	struct service *s;

	programs_take(p);
	if (closer->error == EIO) {
		closer_call_until(closer, programs_look_at_all, p, p->until_usec);
		return;
	}
	while ((s = programs_next(p, &node)))
		programs_note(p, s, PROGRAMS_UNKNOWN);
	p->fd = fd_close(p->fd);
	p->ended = p->begun;
	context_update_soon(p->tree->ctx);
}

void programs_init(struct programs *p, struct tree *tree)
{
	*p = (struct programs){ .tree = tree, .fd = -1 };
	closer_init(&p->closer, tree->ctx, programs_on_ended);
}

void programs_done(struct programs *p)
{
	if (!p->tree)
		return;
	closer_done(&p->closer);
	(void)fd_close(p->fd);
}

unsigned programs_look(const struct programs *p, bool fresh)
{
	bool recent = clock_now_usec() < clock_add(p->until_usec, PROGRAMS_TIMEOUT_USEC);

	return fresh || !recent ? p->begun + 1 : p->begun;
}

bool programs_are_known(struct programs *p, unsigned number)
{
	if (number == 0 || p->ended >= number)
		return true;
	if (p->ended != p->begun)
		return false;
	p->begun++;
	p->fd = memfd_create("programs", MFD_CLOEXEC);
	p->until_usec = clock_now_usec() + PROGRAMS_TIMEOUT_USEC;
	closer_call_until(&p->closer, p->fd < 0 ? NULL : programs_look_at_all, p, p->until_usec);
	return false;
}
