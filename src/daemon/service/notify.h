#pragma once

/* What a service says of itself by the notify protocol, and what that does to it. */

#include "daemon/service/object.h"

/* What it has said in this run, for people. */
struct service_words {
	char status[NOTIFY_STATUS_MAX]; /* empty: nothing */
	int error;			/* errno; 0: none */
	uint64_t reloading_usec;	/* since when it reloads; 0: it does not */
	bool stopping;			/* it ends by itself */
	unsigned refused;		/* what it asked for and did not get */
};

/*
 * The socket, and what goes with what is said there, if @config asks for one.  Return: 0 or -errno.
 */
int service_notify_new(struct service *service, const struct node_config *config,
		       struct notify **ret, struct service_words **ret_words);

/* A run begins: what was said in the one before counts no more. */
void service_notify_begin(struct service *service);

/* Its state is another: what goes with that. */
void service_notify_follow(struct service *service);

/*
 * It is stopped, whatever its state was: lets go of what is kept for a next run, as far as there
 * will be none.
 */
void service_notify_held(struct service *service);
