#pragma once

/* The table of the methods of io.swansong, and the life of a request. */

#include "daemon/control/requests.h"

void request_init(struct request *request, struct tree *tree, struct connection *connection);

/* The connection is over: its guards are dropped, what it has begun goes on. */
void request_done(struct request *request);

void request_call(struct request *request, enum interface_method method,
		  const struct message_call *call);

/* Something may have changed. */
void request_settle(struct request *request);
