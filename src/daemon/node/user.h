#pragma once

/*
 * The users that processes of a service have.  Where no control group proves to which service a
 * process belongs, only a process of such a user can be one of it.
 */

#include "daemon/loop/context.h"
#include "daemon/loop/process.h"
#include "model/config/config.h"

/* Returns the user that the programs of @config are started as. */
uid_t user_of_config(const struct node_config *config);

/*
 * Returns true if @uid is the user of @config, its notify-user or the user of @main, its main
 * process, which may be dead; or NULL.
 */
bool user_is_own(const struct node_config *config, const struct process *main, uid_t uid);

/*
 * Returns true if SWANSONG_NODE in the environment of a process of @uid counts, or a file of @uid: the
 * user is as above, or root.  Any other user could keep a service from ending by processes with that variable.
 */
bool user_may_claim(const struct node_config *config, const struct process *main, uid_t uid);

/*
 * Reads SWANSONG_NODE in the environment of @pid, a process of @uid.  A process can hold up a read for a
 * moment; then none of its user is read for a while, and after processes of two users none at all.
 *
 * Return: as environment_read(); -ENODATA also in these cases, as the process may be in an exec.
 */
int user_read_claim(struct context *ctx, pid_t pid, uid_t uid,
		    char path[static CONFIG_NAME_MAX + 1]);
