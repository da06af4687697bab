#pragma once

/* What the standard streams of a service become, for one start of it. */

#include "daemon/loop/context.h"
#include "daemon/logger/capture.h"
#include "model/base/settings.h"

struct streams {
	int fds[3];   /* to become 0, 1 and 2 */
	int owned[3]; /* those of them to be closed, or -1 */
	int journal;  /* the last of them that is the journal's, or -1 */
};

#define STREAMS_NONE                                                       \
	{                                                                  \
		.fds = { 0, 1, 2 }, .owned = { -1, -1, -1 }, .journal = -1 \
	}

/*
 * Opens what @config asks for; with @terminal, what it says nothing of is the daemon's.  @capture,
 * or NULL, leads to the logger.  Where the journal is not to be
 * had the daemon's own output is taken, with a warning.
 *
 * Return: 0, or -errno with what could not be opened in *subject.  streams_close() is to be called
 * in any case.
 */
int streams_open(struct streams *streams, const struct context *ctx,
		 const struct node_config *config, bool terminal, struct capture *capture,
		 const char **subject);
void streams_close(struct streams *streams);
