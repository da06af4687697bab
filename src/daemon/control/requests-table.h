#pragma once

/* The table of the methods of io.swansong, and the life of a request. */

#include "daemon/control/requests.h"

void request_init(struct request *request, struct tree *tree, struct connection *connection);

/* Ends the request with its connection: its guards are released, effects of its calls remain. */
void request_done(struct request *request);

void request_call(struct request *request, enum interface_method method,
		  const struct message_call *call);

/* Looks at the waiting call. */
void request_update(struct request *request);
