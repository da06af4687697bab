#pragma once

/*
 * The clients of /events.  A frame is kept once, for all clients; a client that reads slowly skips
 * the frames that are not kept any more, and gets a snapshot in their place.
 */

#include <jansson.h>
#include <microhttpd.h>
#include <systemd/sd-event.h>

#include "base/std.h"

#define STREAM_COMMENT_USEC UINT64_C(15000000) /* interval of comments, which detect clients that are gone */

struct event_stream_owner {
	/* Adds all that a client needs in the beginning, by event_stream_add(). */
	void (*snapshot)(FILE *to, void *arg);
	/* Called when connections have been resumed: the server has to run. */
	void (*resumed)(void *arg);
	/* Called when a client that got the lines of @node has gone. */
	void (*left)(const char *node, void *arg);
	void *arg;
	size_t clients_max; /* the other connections are for requests */
};

struct event_stream;

int event_stream_new(struct event_stream **ret, sd_event *event,
		     const struct event_stream_owner *owner);

/* Frees the object, after event_stream_close() and the stop of the server. */
struct event_stream *event_stream_free(struct event_stream *stream);

/* Ends clients that have not read one frame, such as a snapshot of their own, for STREAM_COMMENT_USEC. */
void event_stream_end_slow(struct event_stream *stream, uint64_t now_usec);

void event_stream_close(struct event_stream *stream);

/* Returns true if there is a client: else nothing need be sent. */
bool event_stream_is_used(const struct event_stream *stream);

/* Writes an event to @to; takes the reference to @data. */
void event_stream_add(FILE *to, const char *name, json_t *data);

/* Sends an event to all clients; takes the reference to @data.  Without memory, it is lost. */
void event_stream_send(struct event_stream *stream, const char *name, json_t *data);

/* Sends the event log to the clients that get the lines of @node. */
void event_stream_send_line(struct event_stream *stream, const char *node, json_t *line);

/*
 * Returns the response for a new client at @connection, which gets the lines of @node, too, unless it is
 * NULL; or NULL: too many clients, or no memory.  The first event is log with the data @first, unless it
 * is NULL; takes the reference to that.
 */
struct MHD_Response *event_stream_response(struct event_stream *stream,
					   struct MHD_Connection *connection, const char *node,
					   json_t *first);
