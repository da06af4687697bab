#pragma once

/*
 * Translates names of users and groups to numbers, by the system's databases.  May block: only for
 * use while a configuration is loaded.
 */

#include "base/std.h"

/*
 * Finds a user by name, or by number if @name has only digits.  *home and *shell are allocated.
 *
 * Return: 0; -ENOENT if there is no such user; -errno.
 */
int ids_user(const char *name, uid_t *uid, gid_t *gid, char **home, char **shell);

/* Finds a group by name.  Return: 0; -ENOENT if there is no such group; -errno. */
int ids_group(const char *name, gid_t *gid);

/*
 * The login name of user @name (or number), and the groups in the order of their numbers, including @gid; a user without an entry has only
 * @gid.  *login and *groups are allocated.  Return: 0 or -errno.
 */
int ids_groups_of(const char *name, gid_t gid, char **login, gid_t **groups, size_t *n);

/* Writes the name of @uid, or its number if it has no name.  Returns @buf. */
#define IDS_NAME_MAX 64
char *ids_user_text(char buf[static IDS_NAME_MAX], uid_t uid);

/* The same for a group. */
char *ids_group_text(char buf[static IDS_NAME_MAX], gid_t gid);
