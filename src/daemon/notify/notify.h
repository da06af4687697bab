#pragma once

/*
 * The socket for the messages of a service (sd_notify(3)).
 *
 * Each service has its own socket: a flood harms no other service, and a message belongs to the
 * service even if its sender is dead.  The socket is a file that only root and the user of the
 * service can reach, unless notify-access has it otherwise.  Without a directory its name is abstract,
 * and every process of the network namespace can send; so the sender is checked before a descriptor is
 * received in either case.
 *
 * A descriptor is accepted if the kernel alone serves its file (sys/ipc/passed.h).  Others, and those
 * without effect, are closed by a process of their own; while many wait for that, further messages
 * wait.  Effects of messages are in daemon/service/notify.h.
 */

#include "daemon/loop/context.h"
#include "daemon/notify/notify-message.h"
#include "sys/ipc/unixsock.h"

struct notify;

struct notify_listener {
	/* Returns true if messages of @sender, which may be dead but not collected, apply. */
	bool (*accepts)(const struct ucred *sender, void *arg);
	/*
	 * Called for each such message.  Descriptors that remain in @passed, with -1 in place of those that
	 * were taken, are closed afterwards.
	 */
	void (*each)(const struct notify_message *message, const struct ucred *sender,
		     struct unix_passed *passed, void *arg);
	bool every_user; /* may send to the socket; @accepts decides */
	const char *node; /* the path, by which the socket is found again after a fault */
	/* Called if @part of a message is refused, for the log. */
	void (*refused)(const char *part, const char *why, void *arg);
	void *arg;
};

/*
 * Makes the socket.  @owner and root may send, or every user; (uid_t)-1: the user of the daemon.
 * Return: 0 or -errno.
 */
int notify_new(struct notify **ret, struct context *ctx, uid_t owner,
	       const struct notify_listener *listener);
struct notify *notify_free(struct notify *notify);
const char *notify_address(const struct notify *notify);

/* Returns true if the socket is that of an image of the daemon of before a fault. */
bool notify_is_former(const struct notify *notify);

/* Reads waiting messages.  It must be called before an exit of the service is processed. */
void notify_drain(struct notify *notify);
