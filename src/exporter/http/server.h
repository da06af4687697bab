#pragma once

/*
 * The server of HTTP: libmicrohttpd on the event loop, in one thread.  A request has 16 KB at most
 * and no body; a connection ends after 10 seconds without a byte, and as exporter/limits/visits.h has it.
 */

#include "exporter/http/access.h"
#include "exporter/http/action.h"

#define SERVER_CONNECTIONS_MAX 4096

struct server_owner {
	/*
	 * Returns the reply to a GET of @path, which is decoded, with its status; or NULL without
	 * memory; or NULL with status 0: the request waits, and is asked for again after
	 * server_retry().
	 */
	struct MHD_Response *(*get)(struct MHD_Connection *connection, const char *path,
				    unsigned *ret_status, void *arg);
	void *arg;
	struct actions *actions; /* handles requests other than GET */
	unsigned connections;	 /* at most */
};

struct server;

/*
 * Returns the number of connections that the limit of descriptors allows, SERVER_CONNECTIONS_MAX at
 * most, if @kept descriptors are for something else.
 */
unsigned server_count_connections(size_t kept);

/*
 * Serves the listening socket @fd, which becomes the server's, also on failure.  @owner and
 * @access must outlive the server.
 */
int server_new(struct server **ret, sd_event *event, int fd, const struct access *access,
	       const struct server_owner *owner);

/* Lifts the time limit of the reply to the present request. */
void server_grant_time(struct server *server, struct MHD_Connection *connection);

/* Goes on with resumed connections in the next turn of the loop. */
void server_resume(struct server *server);

/* Asks for the replies to the requests that wait. */
void server_retry(struct server *server);

/* Requests that wait get the status 503. */
struct server *server_free(struct server *server);
