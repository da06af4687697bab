#pragma once

/*
 * Names of users and groups to numbers, through the system's databases.  May block: at load only.
 */

#include <stddef.h>
#include <sys/types.h>

/*
 * @name is a name, or all digits: the number of a user.  *home and *shell are allocated.
 *
 * Return: 0; -ENOENT if there is no such user; -errno.
 */
int ids_user(const char *name, uid_t *uid, gid_t *gid, char **home, char **shell);

/* Return: 0; -ENOENT if there is no such group; -errno. */
int ids_group(const char *name, gid_t *gid);

/*
 * The groups of user @name (or number), @gid among them, which is all for who has no entry;
 * allocated.  Return: 0 or -errno.
 */
int ids_groups_of(const char *name, gid_t gid, gid_t **groups, size_t *n);

/* The name of @uid, or its number where it has none.  Returns @buf. */
#define IDS_NAME_MAX 64
char *ids_user_text(char buf[static IDS_NAME_MAX], uid_t uid);
