#pragma once

/*
 * Loggers that the kernel keeps in a call after SIGKILL, as a service keeps its pipe locked (sys/ipc/passed.h).
 * Another one takes the place of each, and leaves the stream of the call alone until it has ended.
 */

#include "daemon/loop/context.h"

struct kept_loggers {
	struct context *ctx;
	struct list all;
	/* Called when a process has ended that was in a call for @stream, or for LOGGER_ALL. */
	void (*on_end)(struct kept_loggers *kept, uint32_t stream);
};

void kept_loggers_init(struct kept_loggers *kept, struct context *ctx,
		       void (*on_end)(struct kept_loggers *kept, uint32_t stream));
void kept_loggers_done(struct kept_loggers *kept);

/* Adds the process @pid, which is in no table; without memory it is not awaited. */
void kept_loggers_add(struct kept_loggers *kept, pid_t pid, uint32_t stream);
