#pragma once

/* The objects that replies are made of. */

#include "exporter/http/server.h"
#include "exporter/http/event-stream.h"
#include "exporter/mirror/link.h"
#include "exporter/mirror/tail.h"
#include "exporter/mirror/totals.h"
#include "exporter/text/past.h"

struct site {
	struct copy *copy;
	struct link *link;
	struct event_stream *stream;
	struct server *server;
	struct actions actions;
	struct tails tails;
	struct totals totals;
	struct past past;
	size_t max_nodes; /* with metrics */
	bool started;	  /* the tree has been ready since the daemon answers */
};
