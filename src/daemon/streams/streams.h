#pragma once

/* The descriptors for the standard streams of a service, for one start. */

#include "daemon/logger/capture.h"

struct streams {
	int fds[3];	   /* the descriptors for 0, 1 and 2 of the service */
	int owned[3];	   /* the ones to be closed, or -1 */
	unsigned captured; /* the ones that go to the logger, as bits */
	unsigned reopen;   /* the captured ones that the process opens anew, see struct spawn_spec */
	int journal;	   /* the last one that is the journal's, or -1 */
	const char *input; /* the file that the process opens as its standard input; or NULL */
};

#define STREAMS_NONE                                                       \
	{                                                                  \
		.fds = { 0, 1, 2 }, .owned = { -1, -1, -1 }, .journal = -1 \
	}

/*
 * Opens the streams that @config names.  With @terminal, a stream that it does not name is the
 * daemon's. @capture leads to the logger, or is NULL.  If the journal cannot be opened, the
 * service gets the daemon's own output, and a warning is logged.
 *
 * Return: 0, or -errno with the name of the stream that could not be opened in *subject.  The
 * caller calls streams_close() in each case.
 */
int streams_open(struct streams *streams, const struct context *ctx,
		 const struct node_config *config, bool terminal, struct capture *capture,
		 const char **subject);
void streams_close(struct streams *streams);
