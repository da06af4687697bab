#pragma once

/*
 * Notifications of the parent manager (sd_notify(3)).
 *
 * READY=1 once every service has had its first outcome; STATUS= on every change, at most four in a
 * second; STOPPING=1 and X_SWANSONG_STATE=ShuttingDown at the stop of the root only;
 * EXTEND_TIMEOUT_USEC= every 5 s while the tree starts, and while its stop makes progress within
 * the budget; WATCHDOG=1 at the end of a turn of the loop.  Sending never blocks: messages that a
 * full socket refuses are sent later.  Without a receiver or a valid address the daemon runs all
 * the same.
 */

#include "daemon/tree/tree.h"

struct parent;

/*
 * The address and watchdog of the parent manager, taken from the environment before services
 * inherit that.
 */
struct parent_address {
	char *socket;		/* $NOTIFY_SOCKET; NULL: no notifications */
	uint64_t watchdog_usec; /* USEC_INFINITY: no watchdog */
	bool extends;		/* it is systemd: others kill regardless of EXTEND_TIMEOUT_USEC= */
};

/* Reads and unsets NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.  Return: 0 or -ENOMEM. */
int parent_address_take(struct parent_address *ret);

/*
 * Takes the grace, the time between the stop signal and SIGKILL, from SWANSONG_GRACE, which it unsets, as
 * services must not inherit it; @option_usec overrides it unless that is 0.
 * *ret is USEC_INFINITY if neither is set.  Return: 0, or -EINVAL, which has been logged.
 */
int parent_grace_take(uint64_t option_usec, struct log *log, uint64_t *ret);

/* Parses a grace such as "90s"; 0 is invalid.  Return: 0 or -EINVAL. */
int parent_grace_parse(const char *text, uint64_t *ret_usec);

#define PARENT_GRACE_EXPECTED "a duration, for example 10s, 90s or 5min, or infinity"

/* Makes the object; it uses @address only in this call.  Return: 0 or -errno. */
int parent_new(struct parent **ret, struct tree *tree, struct parent_address *address);
struct parent *parent_free(struct parent *parent);

/* TASK_PARENT: sends changes of phase and status. */
void parent_update(struct parent *parent);

/* Reports a reload and, by parent_reloaded(), its result; only while the tree is ready. */
void parent_reloading(struct parent *parent);
void parent_reloaded(struct parent *parent, const char *status);
