#pragma once

/* The replies to requests, from the copy of the tree; and the events that its changes cause. */

#include "exporter/http/server.h"
#include "exporter/http/stream.h"
#include "exporter/mirror/link.h"
#include "exporter/mirror/totals.h"

struct site {
	struct copy *copy;
	struct link *link;
	struct stream *stream;
	struct server *server;
	struct totals totals;
	size_t max_nodes; /* with metrics */
	bool started;	  /* the tree has been ready since the daemon answers */
};

/* For struct server_owner; the argument is the site. */
struct MHD_Response *routes_get(struct MHD_Connection *connection, const char *path,
				unsigned *ret_status, void *site);

/* For struct stream_owner. */
void routes_snapshot(FILE *to, void *site);
void routes_resumed(void *site);

/* For struct link_owner. */
void routes_news(enum link_news news, const json_t *detail, void *site);
