#pragma once

/*
 * The two connections to the daemon, however many clients there are: the stream of events, and
 * the queries that fill the copy.  Queries follow an event, at most ten times a second and less
 * often if the tree is large; nothing is asked while nothing happens.  After the end of the daemon, connections are tried each
 * second at least.  A query without a full reply in ten seconds counts as such an end.
 */

#include <systemd/sd-event.h>

#include "base/log.h"
#include "exporter/mirror/copy.h"

enum link_news {
	LINK_UP,       /* the daemon answers, and the copy is complete */
	LINK_DOWN,     /* the daemon does not answer; the copy stays */
	LINK_EVENTS,   /* @detail: an array of Event; before LINK_UP, those that were missed */
	LINK_TREE,     /* other nodes are in the copy */
	LINK_NODES,    /* the nodes of the copy that are marked have changed */
	LINK_GUARDS,   /* the guards of the copy have changed */
	LINK_SETTINGS, /* @detail: {"node"}, of which the settings are known now */
};

struct link_owner {
	struct log *log;
	void (*news)(enum link_news news, const json_t *detail, void *arg);
	void *arg;
};

struct link;

/* Connects to @socket, at once or later.  @copy, @owner and @socket must outlive the link. */
int link_new(struct link **ret, sd_event *event, const char *socket, struct copy *copy,
	     const struct link_owner *owner);
struct link *link_free(struct link *link);

/* Asks for the settings that are wanted: one question at a time, and one for each node and configuration. */
void link_want_settings(struct link *link);

/*
 * Renews a copy that is older than LINK_RENEW_USEC: counts of lines change without an event, and a
 * daemon that hangs is noticed by a query only.  Once in LINK_PROGRAMS_USEC the daemon looks for files of services that
 * were replaced.  The present request gets the copy as it is.
 */
#define LINK_RENEW_USEC	   UINT64_C(10000000)
#define LINK_PROGRAMS_USEC UINT64_C(60000000)
void link_renew(struct link *link);

/* Returns true while the daemon answers. */
bool link_is_up(const struct link *link);

/* Returns the pid of the daemon; 0: not known. */
pid_t link_daemon(const struct link *link);
