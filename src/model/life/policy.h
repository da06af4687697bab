#pragma once

/*
 * The restart policy: whether the end of a run is clean, whether a restart follows, and when.
 * Pure: the caller passes the time.
 *
 * A start that lacks processes, descriptors or memory is a transient fault: it is repeated within a
 * second, and does not count as a failure of the service.
 */

#include "model/base/settings.h"
#include "model/life/fsm.h"

enum outcome_kind {
	OUTCOME_NONE,	       /* never ran */
	OUTCOME_EXITED,	       /* value: the exit status */
	OUTCOME_SIGNALED,      /* value: the signal */
	OUTCOME_SPAWN_FAILED,  /* value: errno; step; subject: the object of the step, or NULL */
	OUTCOME_START_TIMEOUT, /* ended: not ready in time; value: the signal, or 0 */
	OUTCOME_WATCHDOG,      /* ended: its watchdog expired; value likewise */
	OUTCOME_UNHEALTHY,     /* ended: its probes failed; value likewise */
	OUTCOME_UNKNOWN,       /* ended as a child of another process, which has the exit status */
	OUTCOME_CONDITION,     /* not started: its condition @subject does not hold */
};

/* The end of the main process alone. */
enum outcome_end { END_NONE, END_EXITED, END_KILLED, END_DUMPED };

struct outcome {
	enum outcome_kind kind;
	int value;
	bool was_ready;		    /* ready before the end; always true for a oneshot */
	const char *step, *subject; /* borrowed */
	const char *unfound; /* why the pid-file @subject gave no main process; constant, or NULL */
	const char *hook; /* the key of the command that ended; NULL: the service itself */
	enum outcome_end end;
	int end_value; /* the exit status or the signal */
};

struct policy;

/* Allocates all memory of the policy.  @config must outlive it. */
int policy_new(struct policy **ret, const struct node_config *config);
struct policy *policy_free(struct policy *policy);

/*
 * @ran_usec is the duration of the run.  Return: EVENT_DONE; EVENT_FAIL; EVENT_RETRY with the time
 * to wait in *delay_usec.
 */
enum service_event policy_decide(struct policy *policy, const struct outcome *outcome,
				 uint64_t now_usec, uint64_t ran_usec, uint64_t *delay_usec);

/* The longest random time that is added to a pause of @delay_usec. */
uint64_t policy_jitter_limit(const struct node_config *config, uint64_t delay_usec);

/* Replaces the configuration of the policy by @config; counts stay. */
void policy_use(struct policy *policy, const struct node_config *config);

/*
 * Copies the counts and times of @from, of another configuration of the service, to a new @policy.
 */
void policy_inherit(struct policy *policy, const struct policy *from);

/* The delay before the next restart, for the next image of the daemon. */
uint64_t *policy_delay(struct policy *policy);

/* Resets counts and times, for a start by an operator. */
void policy_forget(struct policy *policy);

bool policy_is_clean(const struct node_config *config, const struct outcome *outcome);

/* Returns true if this errno of a spawn is a shortage that may pass. */
bool policy_is_transient(int error);

/* The exit status as in a shell: 128 + the signal; 127 or 126 for a failed spawn. */
int policy_exit_status(const struct outcome *outcome);

/* The same, but 0 if success-status names the end. */
int policy_end_status(const struct node_config *config, const struct outcome *outcome);

/* "exited with status 3", "killed by SIGSEGV", …: to be shown.  Returns @buf. */
#define OUTCOME_TEXT_MAX 400
char *policy_outcome_text(char buf[static OUTCOME_TEXT_MAX], const struct outcome *outcome);

/*
 * The result of a run in the words of systemd.exec(5), for the environment of post-stop: scripts
 * written for ExecStopPost= work unchanged.
 */

/* The facts beside the outcome. */
struct result_of {
	const struct node_config *config;
	const struct outcome *outcome;
	bool stopped; /* on request: an end by the stop signal is a success */
	bool late;    /* the stop-timeout has expired */
};

/* "success", "exit-code", "timeout", …: SERVICE_RESULT. */
const char *result_name(const struct result_of *result);

/* "exited", "killed" or "dumped": EXIT_CODE; NULL if there was no main process. */
const char *result_exit_code(const struct outcome *outcome);

/* The exit status, or the signal as in "TERM": EXIT_STATUS.  Returns @buf. */
#define RESULT_STATUS_MAX 24
char *result_exit_status(char buf[static RESULT_STATUS_MAX], const struct outcome *outcome);
