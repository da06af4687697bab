#pragma once

/*
 * A process that listened at the address of a probe before the service was started, and is none of
 * the service's: what it answers says nothing of the service.
 *
 * A listener that comes later is taken for the service's, whichever process holds it: a container
 * runtime, for one, opens the ports of its containers itself.
 */

#include "daemon/loop/context.h"
#include "daemon/loop/process.h"
#include "model/config/config.h"
#include "sys/ipc/listeners.h"

struct foreign {
	struct listeners before;  /* those of the beginning of the run */
	struct listeners refused; /* members of @before that are foreign */
};

/* Just before the main process is made.  Probes other than tcp and http have no listeners. */
void foreign_begin(struct foreign *foreign, const struct probe_config *config);

/*
 * Returns true if all that listens now is foreign; logs that once a run.  @main is the service's
 * main process, or what it was.
 */
bool foreign_answers(struct foreign *foreign, struct context *ctx, const struct node_config *node,
		     const struct process *main);

void foreign_end(struct foreign *foreign);
