/*
 * The child is an ordinary process of the table, of kind PROCESS_CLOSER, so the reaper collects it
 * like all others.  It belongs to no service and holds no guard.
 *
 * Descriptors of an owner that wait for its child are in a struct discards, which exists as long as that
 * child.
 */
#include "daemon/loop/closer.h"

#include "sys/ipc/passed.h"

/* So many descriptors of an owner may wait, and those of one further message. */
#define DISCARDS_FULL 64

struct discards {
	struct list in_context;
	struct list watches;
	struct closer closer;
	int *fds;
	size_t n;
	char owner[];
};

static void closer_on_alarm(struct alarm *alarm)
{
	struct closer *closer = container_of(alarm, struct closer, alarm);

	if (closer->process.alive) {
		(void)process_signal(&closer->process, SIGKILL);
		closer->error = ETIMEDOUT;
	}
	closer->ended(closer);
}

void closer_init(struct closer *closer, struct context *ctx, void (*ended)(struct closer *closer))
{
	*closer = (struct closer){ .ctx = ctx, .ended = ended };
	process_init(&closer->process, PROCESS_CLOSER, NULL);
	alarm_init(&closer->alarm, closer_on_alarm);
}

/* The child stays in the table: in the scan of orphans an uncounted child would hide another one. */
void closer_done(struct closer *closer)
{
	pid_t pid = closer->process.alive ? closer->process.pid : 0;
	struct process *child;

	if (!closer->ctx)
		return;
	if (pid > 0 && closer->alarm.usec != USEC_INFINITY)
		(void)process_signal(&closer->process, SIGKILL);
	alarm_stop(&closer->ctx->alarms, &closer->alarm);
	process_remove(&closer->process);
	if (pid > 0 && process_new(&child, PROCESS_INHERITED, NULL) == 0)
		process_add(closer->ctx->processes, child, pid, -1);
}

void closer_take(struct closer *closer, pid_t pid)
{
	process_add(closer->ctx->processes, &closer->process, pid, -1);
}

static int closer_begin(struct closer *closer, pid_t pid)
{
	if (pid < 0)
		return (int)pid;
	closer_take(closer, pid);
	closer->error = 0;
	closer->ctx->launched++;
	return 0;
}

int closer_close(struct closer *closer, const int *fds, size_t n)
{
	return closer_begin(closer, passed_close_apart(fds, n));
}

int closer_drop(struct closer *closer, int fd)
{
	return closer_begin(closer, passed_drop_apart(fd));
}

int closer_call(struct closer *closer, int (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(-fn(arg));
	return closer_begin(closer, pid < 0 ? -errno : pid);
}

void closer_call_until(struct closer *closer, int (*fn)(void *arg), void *arg, uint64_t until_usec)
{
	int r = fn && !closer->process.alive ? closer_call(closer, fn, arg) : -EBUSY;

	closer->error = fn && r < 0 ? -r : 0;
	alarm_set(&closer->ctx->alarms, &closer->alarm, r < 0 ? clock_now_usec() : until_usec);
}

void closer_died(struct process *process, const struct reap_exit *exit)
{
	struct closer *closer = container_of(process, struct closer, process);
	bool late = closer->error == ETIMEDOUT;

	process_remove(process);
	closer->error = exit->signaled ? EIO : exit->value;
	if (closer->alarm.usec != USEC_INFINITY)
		alarm_set(&closer->ctx->alarms, &closer->alarm, clock_now_usec());
	else if (!late)
		closer->ended(closer);
}

static struct discards *closer_find_discards(const struct context *ctx, const char *owner)
{
	struct discards *d;

	list_for_each (d, &ctx->discards, in_context)
		if (strcmp(d->owner, owner) == 0)
			return d;
	return NULL;
}

static void closer_free_discards(struct discards *d)
{
	struct closer_watch *watch;

	list_remove(&d->in_context);
	closer_done(&d->closer);
	passed_close_all_now(d->fds, d->n);
	list_for_each_taken (watch, &d->watches, in_discards)
		watch->fn(watch);
	free(d->fds);
	free(d);
}

/* Begins to close those that wait. */
static int closer_begin_discards(struct discards *d)
{
	int r = d->n > 0 ? closer_close(&d->closer, d->fds, d->n) : -ENOENT;

	if (r == 0)
		d->n = 0;
	return r;
}

static void closer_on_discarded(struct closer *closer)
{
	struct discards *d = container_of(closer, struct discards, closer);

	if (closer_begin_discards(d) < 0)
		closer_free_discards(d);
}

static struct discards *closer_new_discards(struct context *ctx, const char *owner)
{
	size_t size = strlen(owner) + 1;
	struct discards *d = calloc(1, sizeof(*d) + size);

	if (!d)
		return NULL;
	memcpy(d->owner, owner, size);
	list_init(&d->watches);
	closer_init(&d->closer, ctx, closer_on_discarded);
	list_append(&ctx->discards, &d->in_context);
	return d;
}

/* Return: 0, or -ENOMEM and nothing was added. */
static int closer_add_discards(struct discards *d, const int *fds, size_t n)
{
	int *more = reallocarray(d->fds, d->n + n, sizeof(*fds));

	if (!more)
		return -ENOMEM;
	d->fds = more;
	memcpy(&d->fds[d->n], fds, n * sizeof(*fds));
	d->n += n;
	return 0;
}

void closer_discard(struct context *ctx, const char *owner, const int *fds, size_t n)
{
	struct discards *d;

	if (n == 0)
		return;
	d = closer_find_discards(ctx, owner);
	if (!d)
		d = closer_new_discards(ctx, owner);
	if (!d || closer_add_discards(d, fds, n) < 0)
		passed_close_all_now(fds, n);
	if (d && !d->closer.process.alive && closer_begin_discards(d) < 0)
		closer_free_discards(d);
}

bool closer_await_discards(struct context *ctx, const char *owner, struct closer_watch *watch)
{
	struct discards *d = closer_find_discards(ctx, owner);

	if (!d || d->n < DISCARDS_FULL)
		return false;
	list_append(&d->watches, &watch->in_discards);
	return true;
}

void closer_discards_done(struct context *ctx)
{
	struct discards *d;

	list_for_each_taken (d, &ctx->discards, in_context)
		closer_free_discards(d);
}
