/*
 * Two rows of the roster hold the program and the former one over a fault and a replacement of the
 * daemon.
 */
#include "daemon/writer/program.h"

#define ROW	   "logger program"
#define FORMER_ROW "former logger program"

static int logger_program_take(struct logger_program *p)
{
	struct roster *roster = p->ctx->roster;
	int program = roster_take_descriptor(roster, ROW, NULL);
	int former = roster_take_descriptor(roster, FORMER_ROW, NULL);

	if (p->ctx->reason == CRASH_UNDONE) {
		(void)fd_close(program);
		return former;
	}
	(void)fd_close(former);
	if (p->ctx->reason != CRASH_REPLACED)
		return program;
	p->former_fd = program;
	if (program >= 0)
		roster_enter_descriptor(roster, &p->place_former, program, 0, FORMER_ROW);
	return -ENOENT;
}

void logger_program_init(struct logger_program *p, struct context *ctx)
{
	const char *path = getenv("SWANSONG_LOGGER");

	*p = (struct logger_program){
		.ctx = ctx,
		.path = path ? path : PKGLIBEXECDIR "/swansong-logger",
		.former_fd = -1,
	};
	p->fd = logger_program_take(p);
	(void)logger_program_open(p);
}

void logger_program_done(struct logger_program *p)
{
	p->fd = fd_close(p->fd);
	p->former_fd = fd_close(p->former_fd);
}

int logger_program_open(struct logger_program *p)
{
	if (p->fd < 0)
		p->fd = open(p->path, O_PATH | O_CLOEXEC);
	if (p->fd < 0)
		return -errno;
	roster_enter_descriptor(p->ctx->roster, &p->place, p->fd, 0, ROW);
	return 0;
}

void logger_program_forget(struct logger_program *p)
{
	roster_write(p->ctx->roster, &p->place, NULL);
	p->fd = fd_close(p->fd);
}
