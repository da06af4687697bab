#pragma once

/*
 * The control socket: access, limits and the waiting calls of its connections.  Connections that
 * were given to services exist without a socket, too, and are not limited.
 */

#include "daemon/control/requests.h"

/*
 * Limits of connections.  If they are reached, the connection that has been idle for longest is
 * closed.  Some connections are kept for root and the user of the daemon, to which the limit for
 * each user does not apply.
 */
#define CONTROL_CONNECTIONS_MAX	     512
#define CONTROL_CONNECTIONS_KEPT     64
#define CONTROL_CONNECTIONS_PER_USER 128
#define CONTROL_SPARE_USEC	     UINT64_C(1000000) /* a younger connection is not closed */

struct control;

struct control_config {
	const char *path;
	unsigned mode;
	gid_t group, run_group; /* -1: none */
};

/* Makes the object, without a socket.  Return: 0 or -errno. */
int control_new(struct control **ret, struct tree *tree, const struct reload *reload);

/* Opens the socket.  Return: 0; -EADDRINUSE if a live daemon serves it; -errno without a socket. */
int control_listen(struct control *control, const struct control_config *config);

/* Takes over the connections, and the guards, of before a fault. */
void control_take_former(struct control *control);

/*
 * For the end of the daemon: sends what clients have not read yet to those that read.  It takes half a
 * second at most, a tenth if none reads.
 */
void control_finish(struct control *control);

/* Ends all connections, after sending as much as possible, and removes the socket. */
struct control *control_free(struct control *control);

/* TASK_REQUESTS: looks at all waiting calls. */
void control_update(struct control *control);
