#pragma once

/*
 * Replies about progress, each with all guards and services that are still waited for.  On a
 * terminal they are a table that is drawn anew.
 */

#include "ctl/session/session.h"
#include "ctl/terminal/show.h"

struct progress {
	struct message_reply reply; /* the last reply; all members below belong to it */
	struct node_view node;
	struct guard_view *guards;
	size_t n;
	struct node_view *pending; /* NULL: the reply has none */
	size_t n_pending;
	uint64_t more_pending; /* optional */
	uint64_t elapsed_usec;
	uint64_t received_usec; /* when it came: all times above are relative to it */
};

void progress_done(struct progress *progress);

bool progress_is_drawn(const struct ctl *ctl);

/*
 * Receives the next reply, and draws the times of @last anew until it comes.  A last reply without
 * a node has no progress.
 *
 * Return: 0, -errno, or the exit status of a logged error.
 */
int progress_receive(struct ctl *ctl, const struct progress *last, struct progress *ret);

/* "web: shutting down for 12.0s, 3 guards; kill in 18.0s", @since_usec after it was received. */
void progress_describe(struct words *words, const struct progress *progress, uint64_t since_usec);

/* Return: 0 or -ENOMEM. */
int progress_redraw(struct ctl *ctl, const struct progress *progress);
