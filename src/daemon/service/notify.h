#pragma once

/* The messages of a service by the notify protocol, and their effects on it. */

#include "daemon/service/object.h"

/* Messages of the present run that are shown to users. */
struct service_messages {
	char status[NOTIFY_STATUS_MAX]; /* empty: none */
	int error;			/* errno; 0: none */
	uint64_t reloading_usec;	/* start of its reload; 0: it does not reload */
	bool stopping;			/* it ends by itself */
	unsigned refused;		/* number of requests that were refused */
};

/* Makes the notification socket and its data if @config has notify set.  Return: 0 or -errno. */
int service_notify_new(struct service *service, const struct node_config *config,
		       struct notify **ret, struct service_messages **ret_messages);

/* Forgets the messages of the last run, as the next one begins. */
void service_notify_begin(struct service *service);

/* After a fault the messages are those of @row. */
void service_take_messages(struct service *service, const struct roster_row *row);

/* Adapts the watchdog and the stores to the new state of @service. */
void service_notify_update(struct service *service);

/* Closes stored descriptors and sockets, on a stop, if no next run will need them. */
void service_notify_held(struct service *service);
