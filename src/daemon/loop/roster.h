#pragma once

/*
 * The roster: what goes on after a fault of the daemon, in a file that its next image has
 * (sys/spawn/crash.h): main processes, goals, transient nodes, connections with their guards, the store of the logger,
 * the pipes of streams, listening sockets, and the configuration.  A row is written and removed by one
 * call of the kernel.
 *
 * Programs of the releases before and after this one read the rows: a kind keeps its number and its details
 * (HACKING.md).
 */

#include "model/base/settings.h"

#define ROSTER_NAME_MAX	     255
#define ROSTER_CONFIGURATION "configuration"	    /* the texts of its files */
#define ROSTER_BEFORE	     "configuration before" /* likewise, of the one before a rollout */
#define ROSTER_PAGE	     "page "	 /* and the path of the node of an attached program */
#define ROSTER_ATTACHED	     "attached " /* likewise */

enum roster_kind {
	ROSTER_NONE,
	ROSTER_DESCRIPTOR, /* found by its name */
	ROSTER_PROCESS,	   /* main process of a service; 0: it has none, but a state */
	ROSTER_GOAL,	   /* of a node, unless it is that of a new one */
	ROSTER_CONNECTION, /* a descriptor, of a client or of a service */
	ROSTER_LEASE,	   /* the descriptor of a connection that holds a guard */
	ROSTER_LEASE_FD,   /* a descriptor that holds a guard */
	ROSTER_STORED,	   /* a descriptor that a service has stored */
	ROSTER_SCHEDULE,   /* times of a service */
	ROSTER_FINAL,	   /* the final action of a node has begun */
	ROSTER_TRANSIENT,  /* the descriptor of the call that has made the node */
	ROSTER_END,	   /* the reason of a shutdown */
	ROSTER_MESSAGES,   /* messages of a service that are shown to users */
	/*
	 * A hand-over, while the rows of the run at @path get the path @name, and then, with detail[0], those of
	 * PATH~NUMBER get @path: the next image finds all of them renamed.
	 */
	ROSTER_EXCHANGE,
};

struct roster_row {
	uint32_t kind;
	int32_t number;			/* a pid, a descriptor or a goal */
	uint64_t detail[24];		/* for the owner of the row */
	char path[CONFIG_NAME_MAX + 1]; /* of a node; or "" */
	char name[ROSTER_NAME_MAX + 1];
};

struct roster;

/*
 * Makes an object for @fd, which stays with the caller, and reads the rows that a former image has
 * written.  They stay valid, for another image, until roster_settle().  Return: 0 or -errno.
 */
int roster_new(struct roster **ret, int fd);

/*
 * Closes, after a fault, the descriptors of which the rows were lost: one would keep its other end waiting,
 * or a lock taken.
 */
void roster_close_strays(const struct roster *roster);
struct roster *roster_free(struct roster *roster);

/* Returns a row without details.  @path and @name are cut to their room. */
struct roster_row roster_row(enum roster_kind kind, int number, const char *path, const char *name);

/*
 * Writes @row, or removes the one that was written, with NULL.  *place, at first 0, belongs to the
 * owner of the row.  Without memory there is none.  The next image gets the descriptor of the row, and a
 * child only if it is given that (sys/spawn/child.c).  @roster may be NULL.
 */
void roster_write(struct roster *roster, unsigned *place, const struct roster_row *row);
void roster_rename(struct roster *roster, unsigned place, const char *path);

/* Writes a row for @fd.  @roster may be NULL. */
void roster_enter_descriptor(struct roster *roster, unsigned *place, int fd, uint64_t detail,
			     const char *name);

/* Notes the child @pid, which is spared when too many faults end the daemon; 0: none.  @roster may be NULL. */
void roster_spare(struct roster *roster, pid_t pid);

/*
 * Hands over the descriptor @name of the former image.  Return: it, or -ENOENT.  @roster and @detail may
 * be NULL.
 */
int roster_take_descriptor(struct roster *roster, const char *name, uint64_t *detail);

/* Returns the name of the notification socket of the process that @node has had, or NULL.  Likewise. */
const char *roster_find_notify(struct roster *roster, const char *node);

/*
 * Returns the row of @kind of the former image at *at or behind it, and moves *at, at first 0, behind it;
 * NULL: there is none.  A descriptor is open.  It belongs to the caller if that sets kind to ROSTER_NONE.
 * @roster may be NULL.
 */
struct roster_row *roster_next(struct roster *roster, enum roster_kind kind, size_t *at);

/*
 * From now on the rows that were written count.  Forgets those of the former image, and closes the descriptors
 * that were not taken.  Likewise.
 */
void roster_settle(struct roster *roster);
