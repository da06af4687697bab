#include "daemon/loop/mark.h"

#include "sys/spawn/environment.h"

#define MARK_VARIABLE "SWANSONG_DAEMON"
/* The search for a running daemon stops after this many ancestors. */
#define ANCESTORS_MAX 64

int mark_set(struct context *ctx, const char *socket)
{
	char *mark = NULL;

	if (socket && asprintf(&mark, MARK_VARIABLE "=%s", socket) < 0)
		return -ENOMEM;
	free(ctx->environment.mark);
	ctx->environment.mark = mark;
	return 0;
}

bool mark_is_supervised(pid_t pid)
{
	struct proc_info own, info;

	if (proc_read(getpid(), &own) < 0 || proc_read(pid, &info) < 0)
		return true;
	for (int i = 0; i < ANCESTORS_MAX && proc_read(info.parent, &info) == 0; i++)
		if (strcmp(info.name, own.name) == 0 || strcmp(info.name, PROC_KEEPER) == 0)
			return true;
	return false;
}

bool mark_is_left(const struct context *ctx, pid_t pid)
{
	char socket[PATH_MAX];

	return ctx->environment.mark && !mark_is_supervised(pid) &&
	       environment_read(pid, MARK_VARIABLE, socket, sizeof(socket)) == 0 &&
	       strcmp(socket, ctx->environment.mark + sizeof(MARK_VARIABLE)) == 0;
}
