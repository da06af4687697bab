#pragma once

/*
 * What the end of a run means: clean or not, again or not, and when.  Pure: time is given.
 *
 * A run that could not be made for want of processes, descriptors or memory is a fault of the
 * moment: it is tried again within a second, and is no failure of the service's own.
 */

#include <stdint.h>

#include "base/cleanup.h"
#include "model/base/settings.h"
#include "model/life/fsm.h"

enum outcome_kind {
	OUTCOME_NONE,	       /* never ran */
	OUTCOME_EXITED,	       /* value: the exit status */
	OUTCOME_SIGNALED,      /* value: the signal */
	OUTCOME_SPAWN_FAILED,  /* value: errno; step, and subject: of what, or NULL */
	OUTCOME_START_TIMEOUT, /* ended as it was not ready in time; value as for a signal, or 0 */
	OUTCOME_WATCHDOG,      /* ended because it gave no sign of life; value likewise */
	OUTCOME_UNHEALTHY,     /* ended because its probes failed; value likewise */
	OUTCOME_UNKNOWN,       /* ended as a child of somebody else, who has the exit status */
};

/* What is known of the end of the main process alone. */
enum outcome_end { END_NONE, END_EXITED, END_KILLED, END_DUMPED };

struct outcome {
	enum outcome_kind kind;
	int value;
	bool was_ready;		    /* it had been ready before it ended; always for a oneshot */
	const char *step, *subject; /* borrowed */
	const char *hook; /* the key of the command that this tells of; NULL: the service itself */
	enum outcome_end end;
	int end_value; /* the exit status or the signal */
};

struct policy;

/* Allocates all it ever needs.  @config must outlive it. */
int policy_new(struct policy **ret, const struct node_config *config);
struct policy *policy_free(struct policy *policy);
DEFINE_CLEANUP(struct policy *, policy_free)

/*
 * @ran_usec is how long the run lasted.  Return: EVENT_DONE, EVENT_FAIL, or EVENT_RETRY with the
 * time to wait in *delay_usec.
 */
enum service_event policy_decide(struct policy *policy, const struct outcome *outcome,
				 uint64_t now_usec, uint64_t ran_usec, uint64_t *delay_usec);

/* From now on the policy is that of @config, which says nothing else about it. */
void policy_use(struct policy *policy, const struct node_config *config);

/* A new @policy goes on where @from, of another configuration of the same service, was. */
void policy_inherit(struct policy *policy, const struct policy *from);

/* An operator starts it by hand: what happened before does not count any more. */
void policy_forget(struct policy *policy);

bool policy_is_clean(const struct node_config *config, const struct outcome *outcome);

/* Is this errno of a spawn a shortage that may pass? */
bool policy_is_transient(int error);

/* As a shell has it: the status, 128 + the signal, 127 or 126 for a spawn that failed. */
int policy_exit_status(const struct outcome *outcome);

/* The same as it counts for the service: 0 if success-status names it. */
int policy_end_status(const struct node_config *config, const struct outcome *outcome);

/* "exited with status 3", "killed by SIGSEGV", …: for people.  Returns @buf. */
#define OUTCOME_TEXT_MAX 256
char *policy_outcome_text(char buf[static OUTCOME_TEXT_MAX], const struct outcome *outcome);
