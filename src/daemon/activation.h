#pragma once

/*
 * The descriptors that a service is given at its start, from 3 on, as sd_listen_fds(3) has it: the
 * sockets of its key listen, then those that an earlier run has left in the store.
 */

#include "daemon/context.h"
#include "daemon/fdstore.h"
#include "daemon/handover.h"
#include "model/config.h"
#include "sys/child.h"

/* LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES. */
#define ACTIVATION_VARIABLES 3

#define ACTIVATION_FIRST_FD 3
#define ACTIVATION_ROOM	    (HANDOVER_MAX + 1) /* for what else a start hands on */

struct activation;

/*
 * Opens the sockets; *ret is NULL for a service that is never given anything.  Why one cannot be
 * opened is in the log.  Return: 0 or -errno.
 */
int activation_new(struct activation **ret, struct context *ctx, const struct node_config *config);
struct activation *activation_free(struct activation *activation);

/* The store, which may have room for nothing; fdstore_add() to it by activation_store() only. */
struct fdstore *activation_fdstore(struct activation *activation);

/* fdstore_add(), with the memory that the next start needs for it. */
int activation_store(struct activation *activation, int fd, const char *name, bool poll);

/*
 * @from is followed by @activation: what is in its store goes there, as far as there is room.
 * Return: 0, or -ENOMEM and nothing has changed.
 */
int activation_inherit(struct activation *activation, struct activation *from);

/* There will be no start any more: the sockets are the running process's alone. */
void activation_unlisten(struct activation *activation);

struct activation_plan {
	struct spawn_file *files; /* with ACTIVATION_ROOM left */
	size_t n_files;
	char *variables[ACTIVATION_VARIABLES]; /* "NAME=VALUE", or NULL, all of them */
	char *pid;			       /* where in them the child's pid goes, or NULL */
};

/* What there is for the start that comes now.  Allocates nothing; valid until the next change. */
void activation_plan(struct activation *activation, struct activation_plan *plan);
