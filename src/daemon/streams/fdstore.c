/*
 * A list of descriptors, each of a different open file, with their names.  An entry has an event
 * source of its own if it is to be removed when its other end is closed.
 */
#include "daemon/streams/fdstore.h"

#include <linux/kcmp.h>

#include "daemon/loop/closer.h"

static void fdstore_drop(struct fdstore_entry *entry)
{
	entry->store->n--;
	roster_write(entry->store->ctx->roster, &entry->place, NULL);
	list_remove(&entry->in_store);
	sd_event_source_disable_unref(entry->hangup);
	closer_discard(entry->store->ctx, entry->store->node, &entry->fd, 1);
	free(entry);
}

static int fdstore_on_hangup(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct fdstore_entry *entry = arg;

	context_update_soon(entry->store->ctx);
	fdstore_drop(entry);
	return 0;
}

/* If the kernel cannot compare them, two descriptors count as different files. */
static bool fdstore_has_file(const struct fdstore *store, int fd)
{
	const struct fdstore_entry *entry;
	pid_t me = getpid();

	list_for_each (entry, &store->entries, in_store)
		if (syscall(SYS_kcmp, me, me, KCMP_FILE, entry->fd, fd) == 0)
			return true;
	return false;
}

static int fdstore_keep(struct fdstore *store, int fd, const char *name, bool poll)
{
	size_t size = strlen(name) + 1;
	struct fdstore_entry *entry = malloc(sizeof(*entry) + size);
	struct roster_row row;
	int r = 0;

	if (!entry)
		return -ENOMEM;
	*entry = (struct fdstore_entry){ .store = store, .fd = fd };
	memcpy(entry->name, name, size);
	/* A file has no other end, and epoll does not take it. */
	if (poll)
		r = sd_event_add_io(store->ctx->event, &entry->hangup, fd, 0, fdstore_on_hangup,
				    entry);
	if (r < 0 && r != -EPERM) {
		free(entry);
		return r;
	}
	list_append(&store->entries, &entry->in_store);
	store->n++;
	row = roster_row(ROSTER_STORED, fd, store->node, entry->name);
	row.detail[0] = entry->hangup != NULL;
	roster_write(store->ctx->roster, &entry->place, &row);
	return 0;
}

int fdstore_add(struct fdstore *store, int fd, const char *name, bool poll)
{
	if (fdstore_has_file(store, fd))
		return 1;
	if (store->n >= store->max)
		return -ENOBUFS;
	return fdstore_keep(store, fd, name, poll);
}

void fdstore_init(struct fdstore *store, struct context *ctx, const char *node, size_t max)
{
	struct roster_row *row;

	*store = (struct fdstore){ .ctx = ctx, .node = node, .max = max };
	list_init(&store->entries);
	for (size_t at = 0; (row = roster_next(ctx->roster, ROSTER_STORED, &at));) {
		if (strcmp(row->path, node) != 0)
			continue;
		row->kind = ROSTER_NONE;
		if (fdstore_add(store, row->number, row->name, row->detail[0]) != 0)
			closer_discard(ctx, node, &row->number, 1);
	}
}

size_t fdstore_remove(struct fdstore *store, const char *name)
{
	struct fdstore_entry *entry, *next;
	size_t n = 0;

	list_for_each_safe (entry, next, &store->entries, in_store) {
		if (strcmp(entry->name, name) != 0)
			continue;
		fdstore_drop(entry);
		n++;
	}
	return n;
}

void fdstore_move(struct fdstore *store, struct fdstore *from)
{
	struct fdstore_entry *entry, *next;

	list_for_each_safe (entry, next, &from->entries, in_store) {
		if (store->n >= store->max)
			return;
		list_remove(&entry->in_store);
		list_append(&store->entries, &entry->in_store);
		entry->store = store;
		from->n--;
		store->n++;
	}
}

void fdstore_clear(struct fdstore *store)
{
	struct fdstore_entry *entry;

	list_for_each_taken (entry, &store->entries, in_store)
		fdstore_drop(entry);
}
