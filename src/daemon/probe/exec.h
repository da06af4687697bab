#pragma once

/* A check by a command. */

#include "daemon/probe/attempt.h"

extern const struct probe_kind_ops probe_exec_ops;

/* Returns the running command, even if it was cancelled; or NULL. */
const struct process *probe_process(const struct probe *probe);

/* Handles @process, of kind PROCESS_PROBE, that cannot run its program. */
void probe_failed(struct process *process, const struct spawn_failure *why);

/* Handles the end of @process, of kind PROCESS_PROBE, which is not collected yet. */
void probe_died(struct process *process, const struct reap_exit *exit);
