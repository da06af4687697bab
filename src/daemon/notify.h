#pragma once

/*
 * The socket on which a service says what there is to be known of it (sd_notify(3)).
 *
 * Each service has a socket of its own, so that one that floods harms nobody else, and a message is
 * its own even when its sender is dead.  What a message does to the service is decided in
 * daemon/service-notify.h.
 */

#include "daemon/context.h"
#include "daemon/notify-message.h"
#include "sys/unixsock.h"

struct notify;

struct notify_listener {
	/* Does the word of @sender, which may be dead but not collected, count? */
	bool (*accepts)(const struct unix_peer *sender, void *arg);
	/* Called for each message that does; what is left in @passed is closed after that. */
	void (*each)(const struct notify_message *message, const struct unix_peer *sender,
		     struct unix_passed *passed, void *arg);
	void *arg;
};

int notify_new(struct notify **ret, struct context *ctx, const struct notify_listener *listener);
struct notify *notify_free(struct notify *notify);

/* The address for $NOTIFY_SOCKET. */
const char *notify_address(const struct notify *notify);

/* Reads what is there already.  To be called before an exit of the service is followed up. */
void notify_drain(struct notify *notify);
