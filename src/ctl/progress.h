#pragma once

/*
 * Replies that say how far something is, each with all that is still waited for.  On a terminal
 * they are a table that is drawn anew.
 */

#include "ctl/session.h"
#include "proto/view.h"

struct progress {
	struct message_reply reply; /* the last one, which all below belongs to */
	struct node_view node;
	struct guard_view *guards;
	size_t n;
	struct node_view *pending; /* NULL: none were told */
	size_t n_pending;
	uint64_t more_pending; /* optional */
	uint64_t elapsed_usec;
	uint64_t received_usec; /* all times above are as of then */
};

void progress_done(struct progress *progress);

/* Is there a terminal, and somebody who wants to see something there? */
bool progress_is_drawn(const struct ctl *ctl);

/*
 * The next reply; while there is none, the times of @last go on.  An empty last one is no progress
 * but of what there was to say by then.
 *
 * Return: 0, -errno, or the exit status for what was said.
 */
int progress_receive(struct ctl *ctl, const struct progress *last, struct progress *ret);

/* "web: shutting down for 12.0s, 3 guards; kill in 18.0s", @since_usec after it was received. */
void progress_describe(char *buf, size_t size, const struct progress *progress,
		       uint64_t since_usec);

/* Return: 0 or -ENOMEM. */
int progress_redraw(struct ctl *ctl, const struct progress *progress);
