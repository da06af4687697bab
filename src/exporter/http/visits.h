#pragma once

/*
 * The time of connections: one ends 15 seconds after its begin, its last reply, or the last pause of a
 * request, if no further reply has been sent and read by then.
 */

#include <microhttpd.h>
#include <systemd/sd-event.h>

#include "base/list.h"

struct visits {
	struct list list;
	sd_event_source *limit;
};

/* Return: 0 or -errno. */
int visits_init(struct visits *visits, sd_event *event);

/* All connections have ended. */
void visits_done(struct visits *visits);

/* For MHD_OPTION_NOTIFY_CONNECTION and MHD_OPTION_NOTIFY_COMPLETED, with the visits. */
void visits_notify(void *visits, struct MHD_Connection *connection, void **context,
		   enum MHD_ConnectionNotificationCode code);
void visits_completed(void *visits, struct MHD_Connection *connection, void **state,
		      enum MHD_RequestTerminationCode code);

/* The request is suspended: its time begins anew. */
void visits_renew(struct visits *visits, struct MHD_Connection *connection);

/* The reply to the present request may take as long as it likes. */
void visits_grant_time(struct MHD_Connection *connection);
