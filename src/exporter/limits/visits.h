#pragma once

/*
 * The time and the places of connections.  The head of the first request has to come within 5 seconds.
 * After it, a connection ends 15 seconds after its last request, its last reply, or the last pause of a
 * request, if no further reply has been sent and read by then.  When all places are taken, a new connection
 * takes that of the client that has most of them, so that no client keeps others away.
 */

#include <microhttpd.h>
#include <systemd/sd-event.h>

#include "base/list.h"

/* Room for connections beyond the places, until the replaced ones have ended. */
#define VISITS_EXTRA 16

struct visits {
	struct list heads; /* no request has come on these, the oldest first */
	struct list later; /* the others with a limit, likewise */
	sd_event_source *limit;
	size_t n, places;
	uint16_t counts[1024]; /* of the connections in both lists, by the hash of their clients */
};

int visits_init(struct visits *visits, sd_event *event, size_t places);

/* All connections have ended. */
void visits_done(struct visits *visits);

/* Returns true if all places are taken by connections that cannot be ended for new ones. */
bool visits_are_full(const struct visits *visits);

/* For MHD_OPTION_NOTIFY_CONNECTION, with the visits. */
void visits_notify(void *visits, struct MHD_Connection *connection, void **context,
		   enum MHD_ConnectionNotificationCode code);

/*
 * A request begins, or has ended: the time begins anew; or, if @paused, the request is suspended: likewise, and no
 * other connection takes its place until it is completed.  Returns false if another has taken the place.
 */
bool visits_renew(struct visits *visits, struct MHD_Connection *connection, bool paused);

/* Lifts the time limit of the reply to the present request. */
void visits_grant_time(struct visits *visits, struct MHD_Connection *connection);
