#pragma once

/* The output of nodes: the lines that the logger remembers, and older ones from files. */

#include "ctl/logs/lines.h"
#include "ctl/session/session.h"

struct logs {
	struct ctl *ctl;
	json_t *nodes;			 /* an array of their paths */
	uint64_t max;			 /* lines of each */
	const struct log_filter *filter; /* NULL: any line */
	bool quiet;			 /* a refusal is not logged, and it does not take long */
	bool follow;
	struct message_reply reply;
	struct output_view *outputs;
	size_t n_outputs;
	bool collected; /* the last lines are there */
	struct log_reader reader;
	struct log_lines lines; /* the last ones, in order */
};

void logs_init(struct logs *logs, struct ctl *ctl, uint64_t max);
void logs_done(struct logs *logs);

/*
 * Asks for the last lines, and, with @follow, for all that come after them.  @logs->outputs is there
 * then; the reader has no pipe if there is no logger.
 *
 * Return: CTL_DONE, or the exit status of the error that was logged.
 */
int logs_ask(struct logs *logs, bool follow);

/* Collects the last lines.  Files that cannot be read are logged unless @quiet.  Return: likewise. */
int logs_collect(struct logs *logs, uint64_t deadline_usec);

/*
 * After the end of the pipe: asks the next logger for all that it remembers; the reader skips lines
 * that it has.  Before all last lines are there, it begins anew.  Return: likewise.
 */
int logs_ask_again(struct logs *logs);
