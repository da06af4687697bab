#pragma once

/* Runs a history from the start of a daemon to its end. */

#include "daemon/tree/tree.h"
#include "tests/sim/history.h"

struct failure {
	char promise[32]; /* its name; "": all held */
	char text[512];
};

struct figures {
	uint64_t histories, operations, turns, processes, faults, invalid, early, simulated_usec;
};

/* Returns true if all promises held; else fills in *failure.  Adds to *figures. */
bool run_history(const struct history *history, struct failure *failure, struct figures *figures);

/* --- for the promises --- */

/* Ends the history: @promise does not hold. */
_Noreturn void run_fail(const char *promise, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Ends this image of the daemon; the next one goes on. */
_Noreturn void run_die(void);

/* Ends it in the middle of a turn: before the @n-th change of its roster or of a process from now on. */
void run_die_at(unsigned n);

/* Called before each such change. */
void run_note_change(void);

/* Facts about the present history that the promises depend on. */
struct run_facts {
	const struct tree *tree;       /* NULL: there is none yet */
	bool guards;		       /* guards were requested: a service may have been busy */
	bool reloads;		       /* the configuration was changed */
	bool rollouts;		       /* likewise, by rollouts, or until it is confirmed */
	bool faults;		       /* an operation of the kernel was made to fail */
	bool no_descriptors;	       /* and failed for want of a descriptor */
	bool forced;		       /* a stop was forced by a request */
	bool prolonged;		       /* it may have more time by a request */
	bool ending;		       /* a service has announced its own end */
	bool kept;		       /* a configuration has kill-leftovers = no */
	char back[2][8];	       /* configurations of the operation back; "": none */
	bool unconfirmed;	       /* likewise, of the operation unconfirmed */
	const struct rollout *rollout; /* NULL: there is none yet */
	bool died;		       /* the daemon has had a fault */
	bool left;	 /* a call of Scale had an error, maybe without a client to read it */
	bool operations; /* there were operations besides the passing of time */
};
extern struct run_facts run_facts;
