/*
 * Rows have places of one size behind the history of faults.  The next image checks each: its process
 * must be a child, and a row that is damaged names none that is of use.
 */
#include "daemon/loop/roster.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define ROSTER_AT 4096 /* behind struct crash_history */

struct roster {
	int fd;
	unsigned last;	/* place */
	unsigned *free; /* places before it without a row */
	size_t n_free, room;
	struct roster_row *former;
	size_t n_former;
};

struct roster *roster_free(struct roster *roster)
{
	roster_settle(roster);
	if (roster)
		free(roster->free);
	free(roster);
	return NULL;
}

DEFINE_CLEANUP(struct roster *, roster_free)

/* There is always room for all places that are taken, so that one can be given back. */
static unsigned roster_find_place(struct roster *roster)
{
	size_t room = roster->room ? roster->room * 2 : 64;
	unsigned *more;

	if (roster->n_free > 0)
		return roster->free[--roster->n_free];
	if (roster->last == roster->room) {
		more = reallocarray(roster->free, room, sizeof(*more));
		if (!more)
			return 0;
		roster->free = more;
		roster->room = room;
	}
	return ++roster->last;
}

static off_t roster_offset(unsigned place)
{
	return ROSTER_AT + (off_t)(place - 1) * (off_t)sizeof(struct roster_row);
}

void roster_write(struct roster *roster, unsigned *place, const struct roster_row *row)
{
	static const struct roster_row none;

	if (!roster || (!row && !*place))
		return;
	if (!*place)
		*place = roster_find_place(roster);
	if (!*place)
		return;
	(void)!pwrite(roster->fd, row ? row : &none, sizeof(*row), roster_offset(*place));
	if (row)
		return;
	roster->free[roster->n_free++] = *place;
	*place = 0;
}

void roster_enter_descriptor(struct roster *roster, unsigned *place, int fd, uint64_t detail,
			     const char *name)
{
	struct roster_row row = { .number = fd, .detail = detail };

	if (!roster || strlen(name) > ROSTER_NAME_MAX || fcntl(fd, F_SETFD, 0) < 0)
		return;
	memcpy(row.name, name, strlen(name));
	roster_write(roster, place, &row);
}

/* --- rows of the former image --- */

static int roster_read(struct roster *roster)
{
	struct stat st;
	size_t n;

	if (fstat(roster->fd, &st) < 0)
		return -errno;
	n = st.st_size > ROSTER_AT ? (size_t)(st.st_size - ROSTER_AT) / sizeof(*roster->former) : 0;
	if (n == 0)
		return 0;
	roster->former = calloc(n, sizeof(*roster->former));
	if (!roster->former)
		return -ENOMEM;
	if (pread(roster->fd, roster->former, n * sizeof(*roster->former), ROSTER_AT) < 0 ||
	    ftruncate(roster->fd, ROSTER_AT) < 0)
		return -errno;
	for (size_t i = 0; i < n; i++) {
		roster->former[i].path[CONFIG_NAME_MAX] = '\0';
		roster->former[i].name[ROSTER_NAME_MAX] = '\0';
	}
	roster->n_former = n;
	return 0;
}

int roster_new(struct roster **ret, int fd)
{
	cleanup(roster_freep) struct roster *roster = malloc(sizeof(*roster));
	int r;

	if (!roster)
		return -ENOMEM;
	*roster = (struct roster){ .fd = fd };
	r = roster_read(roster);
	if (r < 0)
		return r;
	*ret = take(roster);
	return 0;
}

/* Descriptors that this image has opened are CLOEXEC. */
static bool roster_is_descriptor(const struct roster_row *row)
{
	return row->number > STDERR_FILENO && row->number <= INT_MAX && !*row->path && *row->name &&
	       fcntl((int)row->number, F_GETFD) == 0;
}

int roster_take_descriptor(struct roster *roster, const char *name, uint64_t *detail)
{
	for (size_t i = 0; roster && i < roster->n_former; i++) {
		struct roster_row row = roster->former[i];

		if (!roster_is_descriptor(&row) || strcmp(row.name, name) != 0)
			continue;
		roster->former[i].number = 0;
		if (detail)
			*detail = row.detail;
		return (int)row.number;
	}
	return -ENOENT;
}

const char *roster_find_notify(const struct roster *roster, const char *node)
{
	for (size_t i = 0; roster && i < roster->n_former; i++)
		if (roster->former[i].number && strcmp(roster->former[i].path, node) == 0)
			return *roster->former[i].name ? roster->former[i].name : NULL;
	return NULL;
}

const struct roster_row *roster_former(const struct roster *roster, size_t *n)
{
	*n = roster ? roster->n_former : 0;
	return roster ? roster->former : NULL;
}

void roster_settle(struct roster *roster)
{
	if (!roster)
		return;
	for (size_t i = 0; i < roster->n_former; i++)
		if (roster_is_descriptor(&roster->former[i]))
			(void)close((int)roster->former[i].number);
	free(roster->former);
	roster->former = NULL;
	roster->n_former = 0;
}
