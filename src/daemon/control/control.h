#pragma once

/*
 * The control socket: who may connect, how many, and what each of them waits for; and the
 * connections that services were given, which are there without a socket, and do not count.
 */

#include "daemon/control/requests-table.h"

/*
 * Connections that are served at once.  Where they are short, the one that has waited for nothing
 * for longest makes room.  Some are kept for root and the user of the daemon, to whom the share of a
 * user does not apply.
 */
#define CONTROL_CONNECTIONS_MAX	     512
#define CONTROL_CONNECTIONS_KEPT     64
#define CONTROL_CONNECTIONS_PER_USER 128
#define CONTROL_SPARE_USEC	     UINT64_C(1000000) /* no connection makes room before */

struct control;

struct control_config {
	const char *path;
	unsigned mode;
	gid_t group, run_group; /* -1: none */
};

/* Without a socket.  Return: 0 or -errno. */
int control_new(struct control **ret, struct tree *tree, const struct reload *reload);

/* Return: 0; -EADDRINUSE if a live daemon serves the socket; -errno, and there is none. */
int control_listen(struct control *control, const struct control_config *config);

/* Ends all connections, with what can still be sent, and removes the socket. */
struct control *control_free(struct control *control);

/* Something may have changed: looks at all that is waited for. */
void control_settle(struct control *control);
