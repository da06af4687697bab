/*
 * Two rows of the roster for each helper hold the program and the former one over a fault and a replacement of
 * the daemon.
 */
#include "daemon/writer/program.h"

static const struct {
	const char *variable, *path, *row, *former_row;
} helpers[] = {
	[HELPER_LOGGER] = { "SWANSONG_LOGGER", PKGLIBEXECDIR "/swansong-logger", "logger program",
			    "former logger program" },
	[HELPER_SANDBOX] = { "SWANSONG_SANDBOX", PKGLIBEXECDIR "/swansong-sandbox",
			     "sandbox program", "former sandbox program" },
};

static int helper_program_take(struct helper_program *p)
{
	struct roster *roster = p->ctx->roster;
	int program = roster_take_descriptor(roster, helpers[p->helper].row, NULL);
	int former = roster_take_descriptor(roster, helpers[p->helper].former_row, NULL);

	if (p->ctx->reason == CRASH_UNDONE) {
		(void)fd_close(program);
		return former;
	}
	(void)fd_close(former);
	if (p->ctx->reason != CRASH_REPLACED)
		return program;
	p->former_fd = program;
	if (program >= 0)
		roster_enter_descriptor(roster, &p->place_former, program, 0,
					helpers[p->helper].former_row);
	return -ENOENT;
}

void helper_program_init(struct helper_program *p, struct context *ctx, enum helper helper)
{
	const char *path = getenv(helpers[helper].variable);

	*p = (struct helper_program){
		.ctx = ctx,
		.helper = helper,
		.path = path ? path : helpers[helper].path,
		.former_fd = -1,
	};
	p->fd = helper_program_take(p);
	(void)helper_program_open(p);
}

void helper_program_done(struct helper_program *p)
{
	p->fd = fd_close(p->fd);
	p->former_fd = fd_close(p->former_fd);
}

int helper_program_open(struct helper_program *p)
{
	if (p->fd < 0)
		p->fd = open(p->path, O_PATH | O_CLOEXEC);
	if (p->fd < 0)
		return -errno;
	roster_enter_descriptor(p->ctx->roster, &p->place, p->fd, 0, helpers[p->helper].row);
	return 0;
}

void helper_program_forget(struct helper_program *p)
{
	roster_write(p->ctx->roster, &p->place, NULL);
	p->fd = fd_close(p->fd);
}
