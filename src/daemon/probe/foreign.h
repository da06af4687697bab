#pragma once

/*
 * Detects a process that listened at the address of a probe before the service was started, and
 * does not belong to the service: its replies do not make the service ready.
 *
 * A listener that comes later is taken for the service's, whichever process holds it: a container
 * runtime, for one, opens the ports of its containers itself.
 */

#include "daemon/loop/context.h"
#include "daemon/loop/process.h"
#include "model/config/config.h"
#include "sys/ipc/listeners.h"

struct foreign {
	struct listeners before;  /* at the beginning of the run */
	struct listeners refused; /* members of @before that are foreign */
};

/*
 * Notes the present listeners.  It is called just before the main process is made.  Probes other
 * than tcp and http have no listeners.
 */
void foreign_begin(struct foreign *foreign, const struct probe_config *config);

/*
 * Returns true if all present listeners are foreign, and logs this once in a run.  @main is
 * the main process of the service, which may have ended.
 */
bool foreign_answers(struct foreign *foreign, struct context *ctx, const struct node_config *node,
		     const struct process *main);

void foreign_end(struct foreign *foreign);
