#pragma once

/* Descriptors for a start, from 3 on, as in sd_listen_fds(3): sockets of listen, then the store. */

#include "daemon/streams/fdstore.h"
#include "daemon/streams/handover.h"
#include "model/config/config.h"

/* LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES. */
#define ACTIVATION_VARIABLES 3

#define ACTIVATION_FIRST_FD 3
#define ACTIVATION_ROOM	    (HANDOVER_MAX + 2) /* for further descriptors of a start */

struct activation;

/*
 * Opens the sockets; *ret is NULL if there are no descriptors.  One that a process of an earlier daemon has
 * may stay closed until the start.  Return: 0, or -errno, which is logged.
 */
int activation_new(struct activation **ret, struct context *ctx, const struct node_config *config);
struct activation *activation_free(struct activation *activation);

/* Returns the store, which may have no room.  Descriptors are added by activation_store() only. */
struct fdstore *activation_fdstore(struct activation *activation);

/* Calls fdstore_add(), and takes the memory that the next start needs for the descriptor. */
int activation_store(struct activation *activation, int fd, const char *name, bool poll);

/* Takes over the store of @from as far as there is room.  Return: 0 or -ENOMEM, without effect. */
int activation_inherit(struct activation *activation, struct activation *from);

/*
 * Closes the sockets, which then only the running process has.  Without a process, connections are
 * refused.
 */
void activation_unlisten(struct activation *activation);

/* Opens sockets that activation_unlisten() has closed.  Return: 0, or -errno, which is logged. */
int activation_listen(struct activation *activation);

/* Returns true if there are sockets and they are open. */
bool activation_is_listening(const struct activation *activation);

/*
 * Calls @fn once, when a connection or a datagram comes, or at once if there is one; to be called
 * again for the next.  Return: 0 or -errno.
 */
int activation_watch(struct activation *activation, void (*fn)(void *arg), void *arg);

/* Returns 1 if a connection to a socket is open, 0 if none is, or -errno if this is unknown. */
int activation_has_connections(const struct activation *activation);

struct activation_plan {
	struct spawn_file *files; /* with room for ACTIVATION_ROOM more */
	size_t n_files;
	char *variables[ACTIVATION_VARIABLES]; /* "NAME=VALUE", or all NULL */
	char *pid;			       /* the place for the child's pid in them, or NULL */
};

/* Plans the next start without allocating memory.  The plan is valid until the next change. */
void activation_plan(struct activation *activation, struct activation_plan *plan);
