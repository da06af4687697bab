/*
 * The child is an ordinary process of the table, of kind PROCESS_CLOSER, so the reaper collects it
 * like all others.  It belongs to no service and holds no guard.
 */
#include "daemon/loop/closer.h"

#include <errno.h>
#include <unistd.h>

#include "base/macro.h"
#include "sys/ipc/passed.h"

void closer_init(struct closer *closer, struct context *ctx, void (*ended)(struct closer *closer))
{
	*closer = (struct closer){ .ctx = ctx, .ended = ended };
	process_init(&closer->process, PROCESS_CLOSER, NULL);
}

void closer_done(struct closer *closer)
{
	process_remove(&closer->process);
}

static int closer_begin(struct closer *closer, pid_t pid)
{
	if (pid < 0)
		return (int)pid;
	process_add(closer->ctx->processes, &closer->process, pid, -1);
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

void closer_died(struct process *process, const struct reap_exit *exit)
{
	struct closer *closer = container_of(process, struct closer, process);

	process_remove(process);
	closer->error = exit->signaled ? EIO : exit->value;
	closer->ended(closer);
}
