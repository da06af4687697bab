/*
 * The child shares memory with the daemon, into which it writes a line for each service: the pid, before it looks at the
 * processes, and then the result.  So the last line of a child that was held up names the service, and the next child goes
 * on behind it.
 */
#include "daemon/demand/programs.h"

#include "sys/process/snapshot.h"

#define PROGRAMS_TIMEOUT_USEC (3 * USEC_PER_SEC) /* of a look */
#define PROGRAMS_RECENT_USEC  (6 * USEC_PER_SEC)
#define PROGRAMS_HELD_UP      1	  /* seconds; at one service */
#define PROGRAMS_UNKNOWN      "?" /* instead of a path */
/* Of the results: enough for 100,000 services with a file that was replaced; only what is written takes memory. */
#define PROGRAMS_SIZE ((size_t)16 << 20)

struct look {
	struct proc_files files;
	const char *result;
};

static void programs_look_at(pid_t pid, void *arg)
{
	struct look *look = arg;
	char *file;
	int r = *look->result == '/' ? 0 : proc_find_replaced(&look->files, pid, &file);

	if (r != 0 && r != -ENOENT)
		look->result = r == 1 ? file : PROGRAMS_UNKNOWN;
}

static void programs_look_below(pid_t main, struct look *look)
{
	cleanup(snapshot_done) struct snapshot below = { .n = 0 };

	programs_look_at(main, look);
	(void)snapshot_add_descendants(&below, main);
	for (size_t i = 0; i < below.n; i++)
		programs_look_at(below.entries[i].pid, look);
}

static struct service *programs_next(const struct programs *p, struct node **node)
{
	while ((*node = *node ? node_next(*node, p->tree->root) : p->tree->root)) {
		struct service *s = (*node)->service;

		if (s && s->looked.waits)
			return s;
	}
	return NULL;
}

/* In the child, which ends by a signal where it is held up. */
static int programs_look_at_all(void *arg)
{
	const struct programs *p = arg;
	struct cgroups *cgroups = p->tree->ctx->cgroups;
	struct look look = { .result = "" };
	struct node *node = NULL;
	char *at = p->at;
	uint64_t alarm_usec = 0;
	struct service *s;
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (signal(SIGALRM, SIG_DFL) == SIG_ERR ||
	    (cgroups && (cgroups->top = dup2(cgroups->top, STDOUT_FILENO)) < 0))
		return -errno;
	fd_close_above(STDERR_FILENO);
	while ((s = programs_next(p, &node)) && at + PATH_MAX + 32 < p->results + PROGRAMS_SIZE) {
		if (clock_now_usec() >= alarm_usec) {
			(void)alarm(PROGRAMS_HELD_UP);
			alarm_usec = clock_now_usec() + PROGRAMS_HELD_UP * USEC_PER_SEC / 8;
		}
		look.result = "";
		at += sprintf(at, "%d\t", (int)s->main.pid);
		if (s->group.exists)
			control_group_each(&s->group, programs_look_at, &look);
		else
			programs_look_below(s->main.pid, &look);
		at += sprintf(at, "%s\n", look.result);
	}
	return 0;
}

static void programs_note(struct service *s, const char *result)
{
	free(s->looked.file);
	s->looked.waits = false;
	s->looked.of_run = true;
	s->looked.file = strcmp(result, PROGRAMS_UNKNOWN) == 0 ? NULL : strdup(result);
}

/* Takes the results of the child; the service that it is held up at is unknown. */
static void programs_take(struct programs *p)
{
	char *rest = p->at, *end = rest + strlen(rest), *line;

	while ((line = strsep(&rest, "\n")) && *line) {
		struct process *process = process_find(p->tree->ctx->processes, atoi(line));
		const char *result = strchr(line, '\t');

		if (process && process->service)
			programs_note(process->service,
				      rest && result ? result + 1 : PROGRAMS_UNKNOWN);
	}
	p->at = end;
}

static void programs_on_ended(struct closer *closer)
{
	struct programs *p = container_of(closer, struct programs, closer);
	struct node *node = NULL;
	struct service *s;

	if (p->results != MAP_FAILED)
		programs_take(p);
	if (closer->error == EIO) {
		closer_call_until(closer, programs_look_at_all, p, p->until_usec);
		return;
	}
	while ((s = programs_next(p, &node)))
		programs_note(s, PROGRAMS_UNKNOWN);
	if (p->results != MAP_FAILED)
		(void)munmap(p->results, PROGRAMS_SIZE);
	p->looks = false;
	context_update_soon(p->tree->ctx);
}

void programs_init(struct programs *p, struct tree *tree)
{
	*p = (struct programs){ .tree = tree };
	closer_init(&p->closer, tree->ctx, programs_on_ended);
}

uint64_t programs_look(const struct programs *p, bool fresh)
{
	return fresh ? p->begun_usec + 1
		     : MAX(clock_now_usec(), PROGRAMS_RECENT_USEC + 1) - PROGRAMS_RECENT_USEC;
}

static void programs_begin(struct programs *p, struct node *top)
{
	uint64_t now = clock_now_usec();

	p->looks = true;
	p->begun_usec = MAX(now, p->begun_usec + 1);
	for (struct node *n = top; n; n = node_next(n, top)) {
		if (!n->service)
			continue;
		n->service->looked.begun_usec = p->begun_usec;
		n->service->looked.waits = n->service->main.alive;
	}
	p->results = mmap(NULL, PROGRAMS_SIZE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	p->at = p->results;
	p->until_usec = now + PROGRAMS_TIMEOUT_USEC;
	closer_call_until(&p->closer, p->results == MAP_FAILED ? NULL : programs_look_at_all, p,
			  p->until_usec);
}

bool programs_are_known(struct programs *p, struct node *top, uint64_t look)
{
	for (struct node *n = top; look > 0 && n; n = node_next(n, top)) {
		uint64_t usec = n->service ? n->service->looked.begun_usec : USEC_INFINITY;

		if (usec >= look && !(p->looks && usec == p->begun_usec))
			continue;
		if (!p->looks)
			programs_begin(p, top);
		return false;
	}
	return true;
}
