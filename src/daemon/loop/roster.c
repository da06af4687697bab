/*
 * Rows have places of one size behind the history of faults.  The next image checks each: its process
 * must be a child, and a row that is damaged names none that is of use.
 *
 * It writes its own rows at other places, which count when it has taken over what those of the former
 * image have: at the writing of the mark.  So a fault before that is like none.
 */
#include "daemon/loop/roster.h"

#include <dirent.h>

#include "sys/ipc/passed.h"
#include "sys/spawn/crash-history.h"

#define ROSTER_AT 4096 /* behind struct crash_history */
#define MARK_AT	  (ROSTER_AT - (off_t)sizeof(struct roster_mark))

/* In the file: valid_inside: only the rows from @from to before @to count; or only the others. */
struct roster_mark {
	uint32_t valid_inside, from, to;
};

struct roster {
	int fd;
	struct roster_mark mark;
	unsigned last;	/* place; those of the former image are left out */
	unsigned *free; /* places before it without a row */
	size_t n_free, room;
	struct roster_row *former;
	size_t n_former;
	struct dict descriptors, processes; /* of those rows */
	struct roster_row *rows;	    /* by place: written by roster_settle() */
	size_t n_rows;
	bool *claimed; /* by its rows, by descriptor */
	size_t n_claimed;
};

static const struct roster_row none;

struct roster *roster_free(struct roster *roster)
{
	roster_settle(roster);
	if (roster) {
		free(roster->free);
		free(roster->claimed);
		free(roster->rows);
	}
	return free_memory(roster);
}

DEFINE_CLEANUP(struct roster *, roster_free)
DEFINE_DICT_NAME(roster_name_of, struct roster_row, name)
DEFINE_DICT_NAME(roster_path_of, struct roster_row, path)

static off_t roster_offset(unsigned place)
{
	return ROSTER_AT + (off_t)(place - 1) * (off_t)sizeof(struct roster_row);
}

static bool roster_has_descriptor(const struct roster_row *row)
{
	return row->kind == ROSTER_DESCRIPTOR || row->kind == ROSTER_CONNECTION ||
	       row->kind == ROSTER_LEASE_FD || row->kind == ROSTER_STORED ||
	       row->kind == ROSTER_TRANSIENT;
}

/*
 * Returns @array of *n elements with one at @at, the new ones of zeros.  NULL: there is no memory, and nothing has
 * changed.
 */
static void *roster_reach(void *array, size_t *n, size_t at, size_t size)
{
	char *more;

	if (at < *n)
		return array;
	more = reallocarray(array, 2 * (at + 1), size);
	if (!more)
		return NULL;
	memset(more + *n * size, 0, (2 * (at + 1) - *n) * size);
	*n = 2 * (at + 1);
	return more;
}

/* The list of free places has room for all places in use, so that giving one back never fails. */
static unsigned roster_find_place(struct roster *roster)
{
	unsigned *more;

	if (roster->n_free > 0)
		return roster->free[--roster->n_free];
	if (roster->last == roster->mark.from)
		roster->last = roster->mark.to;
	more = roster_reach(roster->free, &roster->room, roster->last, sizeof(*more));
	if (!more)
		return 0;
	roster->free = more;
	return ++roster->last;
}

static void roster_hold(struct roster *roster, unsigned place, const struct roster_row *row)
{
	struct roster_row *rows =
		roster_reach(roster->rows, &roster->n_rows, place - 1, sizeof(*rows));

	if (!rows)
		return;
	rows[place - 1] = *row;
	roster->rows = rows;
}

void roster_write(struct roster *roster, unsigned *place, const struct roster_row *row)
{
	if (!roster || (!row && !*place))
		return;
	if (row && roster_has_descriptor(row) && fcntl(row->number, F_SETFD, 0) < 0)
		return;
	if (!*place)
		*place = roster_find_place(roster);
	if (!*place)
		return;
	if (roster->former)
		roster_hold(roster, *place, row ? row : &none);
	else
		(void)!pwrite(roster->fd, row ? row : &none, sizeof(*row), roster_offset(*place));
	if (row)
		return;
	roster->free[roster->n_free++] = *place;
	*place = 0;
}

void roster_rename(struct roster *roster, unsigned place, const char *path)
{
	char text[CONFIG_NAME_MAX + 1] = "";

	(void)snprintf(text, sizeof(text), "%s", path);
	if (roster && place)
		(void)!pwrite(roster->fd, text, sizeof(text),
			      roster_offset(place) + (off_t)offsetof(struct roster_row, path));
}

struct roster_row roster_row(enum roster_kind kind, int number, const char *path, const char *name)
{
	struct roster_row row = { .kind = kind, .number = number };

	(void)snprintf(row.path, sizeof(row.path), "%s", path);
	(void)snprintf(row.name, sizeof(row.name), "%s", name);
	return row;
}

void roster_spare(struct roster *roster, pid_t pid)
{
	if (roster)
		crash_history_spare(roster->fd, pid);
}

void roster_enter_descriptor(struct roster *roster, unsigned *place, int fd, uint64_t detail,
			     const char *name)
{
	struct roster_row row = roster_row(ROSTER_DESCRIPTOR, fd, "", name);

	row.detail[0] = detail;
	if (strlen(name) <= ROSTER_NAME_MAX)
		roster_write(roster, place, &row);
}

/* --- rows of the former image --- */

/* Only a descriptor that an exec has left open is not CLOEXEC.  It belongs to one row. */
static bool roster_claim(struct roster *roster, int fd)
{
	bool *claimed;

	if (fd <= STDERR_FILENO || fcntl(fd, F_GETFD) != 0)
		return false;
	claimed = roster_reach(roster->claimed, &roster->n_claimed, (size_t)fd, sizeof(*claimed));
	if (!claimed)
		return false;
	roster->claimed = claimed;
	if (roster->claimed[fd])
		return false;
	roster->claimed[fd] = true;
	return true;
}

void roster_close_strays(const struct roster *roster)
{
	DIR *list = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (list && (entry = readdir(list))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fcntl(fd, F_GETFD) == 0 &&
		    !(roster && (size_t)fd < roster->n_claimed && roster->claimed[fd]))
			(void)passed_close_now(fd);
	}
	if (list)
		(void)closedir(list);
}

/* Removes a row that is not valid, from the file as well. */
static void roster_sort_out(struct roster *roster, size_t i)
{
	struct roster_row *row = &roster->former[i];
	bool inside = i >= roster->mark.from && i < roster->mark.to;

	if (row->kind == ROSTER_NONE || (roster->mark.valid_inside ? inside : !inside))
		return;
	row->kind = ROSTER_NONE;
	(void)!pwrite(roster->fd, &none, sizeof(none), roster_offset((unsigned)i + 1));
}

/* The rows of the former image, without places at both ends that have none, are valid until roster_settle(). */
static void roster_mark(struct roster *roster, size_t n)
{
	const struct roster_row *rows = roster->former;
	size_t from = 0;

	while (n > 0 && rows[n - 1].kind == ROSTER_NONE)
		n--;
	while (from < n && rows[from].kind == ROSTER_NONE)
		from++;
	roster->n_former = n;
	roster->mark = (struct roster_mark){ true, (unsigned)from, (unsigned)n };
	(void)!pwrite(roster->fd, &roster->mark, sizeof(roster->mark), MARK_AT);
}

/* Returns the path that a hand-over changes in the row, with its room in *size; or NULL. */
static char *roster_path_in(struct roster_row *row, size_t *size)
{
	static const char *const names[] = { ROSTER_PAGE, ROSTER_ATTACHED };

	*size = sizeof(row->path);
	if (row->kind == ROSTER_GOAL || row->kind == ROSTER_PROCESS || row->kind == ROSTER_LEASE ||
	    row->kind == ROSTER_LEASE_FD || row->kind == ROSTER_MESSAGES)
		return row->path;
	for (size_t i = 0; row->kind == ROSTER_DESCRIPTOR && i < ARRAY_SIZE(names); i++) {
		size_t length = strlen(names[i]);

		*size = sizeof(row->name) - length;
		if (strncmp(row->name, names[i], length) == 0)
			return row->name + length;
	}
	return NULL;
}

static void roster_finish_exchange(struct roster *roster, const struct roster_row *exchange)
{
	char successor[CONFIG_NAME_MAX + 16];

	(void)snprintf(successor, sizeof(successor), "%s~%d", exchange->path, exchange->number);
	for (size_t i = 0; i < roster->n_former; i++) {
		size_t size;
		char *path = roster_path_in(&roster->former[i], &size);

		if (path && !exchange->detail[0] && strcmp(path, exchange->path) == 0)
			(void)snprintf(path, size, "%.*s", CONFIG_NAME_MAX, exchange->name);
		else if (path && strcmp(path, successor) == 0)
			(void)snprintf(path, size, "%s", exchange->path);
	}
}

static int roster_read(struct roster *roster)
{
	struct stat st;
	size_t n;
	int r = 0;

	if (fstat(roster->fd, &st) < 0)
		return -errno;
	n = st.st_size > ROSTER_AT ? (size_t)(st.st_size - ROSTER_AT) / sizeof(*roster->former) : 0;
	if (n == 0)
		return 0;
	roster->former = calloc(n, sizeof(*roster->former));
	if (!roster->former)
		return -ENOMEM;
	if (pread(roster->fd, roster->former, n * sizeof(*roster->former), ROSTER_AT) < 0 ||
	    pread(roster->fd, &roster->mark, sizeof(roster->mark), MARK_AT) < 0)
		return -errno;
	for (size_t i = 0; i < n; i++)
		roster_sort_out(roster, i);
	roster_mark(roster, n);
	for (size_t i = 0; i < roster->n_former; i++)
		roster->former[i].path[CONFIG_NAME_MAX] = roster->former[i].name[ROSTER_NAME_MAX] =
			'\0';
	for (size_t i = 0; i < roster->n_former; i++)
		if (roster->former[i].kind == ROSTER_EXCHANGE)
			roster_finish_exchange(roster, &roster->former[i]);
	for (size_t i = 0; r == 0 && i < roster->n_former; i++) {
		struct roster_row *row = &roster->former[i];

		if (roster_has_descriptor(row) && !roster_claim(roster, row->number))
			row->kind = ROSTER_NONE;
		/* If two rows have one name, the first one counts. */
		if (row->kind == ROSTER_DESCRIPTOR && !dict_find(&roster->descriptors, row->name))
			r = dict_add(&roster->descriptors, row);
		else if (row->kind == ROSTER_PROCESS && !dict_find(&roster->processes, row->path))
			r = dict_add(&roster->processes, row);
	}
	return r;
}

int roster_new(struct roster **ret, int fd)
{
	cleanup(roster_freep) struct roster *roster = malloc(sizeof(*roster));
	int r;

	if (!roster)
		return -ENOMEM;
	*roster = (struct roster){ .fd = fd };
	dict_init(&roster->descriptors, roster_name_of);
	dict_init(&roster->processes, roster_path_of);
	r = roster_read(roster);
	if (r < 0)
		return r;
	*ret = take(roster);
	return 0;
}

struct roster_row *roster_next(struct roster *roster, enum roster_kind kind, size_t *at)
{
	while (roster && *at < roster->n_former) {
		struct roster_row *row = &roster->former[(*at)++];

		if (row->kind == kind)
			return row;
	}
	return NULL;
}

int roster_take_descriptor(struct roster *roster, const char *name, uint64_t *detail)
{
	struct roster_row *row = roster ? dict_find(&roster->descriptors, name) : NULL;

	if (!row)
		return -ENOENT;
	dict_remove(&roster->descriptors, name);
	row->kind = ROSTER_NONE;
	if (detail)
		*detail = row->detail[0];
	return row->number;
}

const char *roster_find_notify(struct roster *roster, const char *node)
{
	const struct roster_row *row = roster ? dict_find(&roster->processes, node) : NULL;

	return row && *row->name ? row->name : NULL;
}

/* Only to places that the former image has not used. */
static void roster_write_held(struct roster *roster)
{
	const struct roster_row *rows = roster->rows;
	size_t last = MIN(roster->n_rows, roster->last), before = MIN(last, roster->mark.from);

	if (before > 0)
		(void)!pwrite(roster->fd, rows, before * sizeof(*rows), ROSTER_AT);
	if (last > roster->mark.to)
		(void)!pwrite(roster->fd, rows + roster->mark.to,
			      (last - roster->mark.to) * sizeof(*rows),
			      roster_offset(roster->mark.to + 1));
	roster->rows = free_memory(roster->rows);
	roster->n_rows = 0;
}

void roster_settle(struct roster *roster)
{
	struct roster_mark settled = { false };
	off_t from;

	if (!roster || !roster->former)
		return;
	roster_write_held(roster);
	settled.from = roster->mark.from;
	settled.to = roster->mark.to;
	(void)!pwrite(roster->fd, &settled, sizeof(settled), MARK_AT);
	from = roster_offset(settled.from + 1);
	/* fallocate(2) of no bytes fails, and does nothing. */
	(void)fallocate(roster->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from,
			roster_offset(settled.to + 1) - from);
	for (size_t i = 0; i < roster->n_former; i++)
		if (roster_has_descriptor(&roster->former[i]))
			(void)passed_close_now(roster->former[i].number);
	dict_done(&roster->descriptors);
	dict_done(&roster->processes);
	roster->former = free_memory(roster->former);
	roster->n_former = 0;
}
