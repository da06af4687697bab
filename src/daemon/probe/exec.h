#pragma once

/* A look by a command. */

#include "daemon/probe/attempt.h"
#include "sys/process/reap.h"

extern const struct probe_kind_ops probe_exec_ops;

/* The command that runs, also if it has been cancelled; or NULL. */
const struct process *probe_process(const struct probe *probe);

/* A process of PROCESS_PROBE has died; it has not been collected yet. */
void probe_died(struct process *process, const struct reap_exit *exit);
