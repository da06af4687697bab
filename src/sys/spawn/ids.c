/*
 * The functions use getpwnam(3) and its relatives, which are not safe with threads: configurations
 * are loaded in one thread.  A text of digits is always a number, never a name.
 */
#include "sys/spawn/ids.h"

#include <grp.h>
#include <pwd.h>

/* The errors of the databases for "no such name": POSIX leaves the choice to the implementation. */
static int ids_is_not_found(int error)
{
	switch (error) {
	case 0:
	case ENOENT:
	case ESRCH:
	case EBADF:
	case EPERM:
		return -ENOENT;
	default:
		return -error;
	}
}

/* Returns the entry of the user with the name or number @name; or NULL with errno. */
static struct passwd *ids_find_user(const char *name)
{
	uint64_t uid;

	errno = 0;
	if (parse_uint(name, (uid_t)-2, &uid) == 0)
		return getpwuid((uid_t)uid);
	return getpwnam(name);
}

int ids_user(const char *name, uid_t *uid, gid_t *gid, char **home, char **shell)
{
	cleanup(freep) char *h = NULL;
	cleanup(freep) char *s = NULL;
	struct passwd *pw = ids_find_user(name);

	if (!pw)
		return ids_is_not_found(errno);
	h = strdup(pw->pw_dir ? pw->pw_dir : "/");
	s = strdup(pw->pw_shell && *pw->pw_shell ? pw->pw_shell : "/bin/sh");
	if (!h || !s)
		return -ENOMEM;
	*uid = pw->pw_uid;
	*gid = pw->pw_gid;
	*home = take(h);
	*shell = take(s);
	return 0;
}

int ids_group(const char *name, gid_t *gid)
{
	struct group *gr;

	errno = 0;
	gr = getgrnam(name);
	if (!gr)
		return ids_is_not_found(errno);
	*gid = gr->gr_gid;
	return 0;
}

static int ids_compare(const void *a, const void *b)
{
	const gid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int ids_groups_of(const char *name, gid_t gid, char **login, gid_t **groups, size_t *n)
{
	cleanup(freep) gid_t *list = NULL;
	cleanup(freep) char *found = NULL;
	const struct passwd *pw = ids_find_user(name);
	int count = 0;

	found = strdup(pw ? pw->pw_name : name);
	if (!found)
		return -ENOMEM;
	(void)getgrouplist(found, gid, NULL, &count);
	/* The number of groups may grow between two calls, up to the kernel's limit. */
	for (;;) {
		int room = count;
		gid_t *more = realloc(list, (size_t)room * sizeof(*list));

		if (!more)
			return -ENOMEM;
		list = more;
		if (getgrouplist(found, gid, list, &count) >= 0)
			break;
		if (count <= room || count > NGROUPS_MAX)
			return -E2BIG;
	}
	/* A database that is asked again may have another order. */
	qsort(list, (size_t)count, sizeof(*list), ids_compare);
	*login = take(found);
	*groups = take(list);
	*n = (size_t)count;
	return 0;
}

char *ids_user_text(char buf[static IDS_NAME_MAX], uid_t uid)
{
	struct passwd *pw = getpwuid(uid);

	if (pw)
		(void)snprintf(buf, IDS_NAME_MAX, "%s", pw->pw_name);
	else
		(void)snprintf(buf, IDS_NAME_MAX, "%u", uid);
	return buf;
}

char *ids_group_text(char buf[static IDS_NAME_MAX], gid_t gid)
{
	struct group *gr = getgrgid(gid);

	if (gr)
		(void)snprintf(buf, IDS_NAME_MAX, "%s", gr->gr_name);
	else
		(void)snprintf(buf, IDS_NAME_MAX, "%u", gid);
	return buf;
}
