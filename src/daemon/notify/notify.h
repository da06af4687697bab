#pragma once

/*
 * The socket of the messages of a service (sd_notify(3)).
 *
 * Each service has a socket of its own: a flood harms no other service, and a message is its own
 * even when its sender is dead.  The socket is a file that only root and the user of the service
 * reach.  Where no directory can be made, the name is abstract, and every process of the network
 * namespace can send; so the sender is checked before a descriptor is taken in either case.
 *
 * A descriptor is taken if the kernel alone serves its file (sys/ipc/passed.h).  Others are closed
 * by a process of their own; until that is over, further messages wait.  The effect of a message is
 * decided in daemon/service/notify.h.
 */

#include "daemon/loop/context.h"
#include "daemon/notify/notify-message.h"
#include "sys/ipc/unixsock.h"

struct notify;

struct notify_listener {
	/* Does the word of @sender, which may be dead but not collected, count? */
	bool (*accepts)(const struct unix_peer *sender, void *arg);
	/* Called for each message that does; what is left in @passed is closed after that. */
	void (*each)(const struct notify_message *message, const struct unix_peer *sender,
		     struct unix_passed *passed, void *arg);
	/* Something that the service has sent is refused: for the log. */
	void (*refused)(const char *what, const char *why, void *arg);
	void *arg;
};

/* @owner, and root, may send; (uid_t)-1: the user of the daemon.  Return: 0 or -errno. */
int notify_new(struct notify **ret, struct context *ctx, uid_t owner,
	       const struct notify_listener *listener);
struct notify *notify_free(struct notify *notify);

/* The address for $NOTIFY_SOCKET. */
const char *notify_address(const struct notify *notify);

/* Reads what is there already.  To be called before an exit of the service is followed up. */
void notify_drain(struct notify *notify);
