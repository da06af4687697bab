#include "daemon/fdstore.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

void fdstore_init(struct fdstore *store, struct context *ctx, size_t max)
{
	*store = (struct fdstore){ .ctx = ctx, .max = max };
	list_init(&store->entries);
}

static void drop(struct fdstore_entry *entry)
{
	entry->store->n--;
	entry->store->names_size -= strlen(entry->name) + 1;
	list_remove(&entry->in_store);
	sd_event_source_disable_unref(entry->hangup);
	(void)fd_close_passed(entry->fd);
	free(entry);
}

static int on_hangup(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct fdstore_entry *entry = arg;

	(void)source;
	(void)fd;
	(void)events;
	context_settle_soon(entry->store->ctx);
	drop(entry);
	return 0;
}

/* Where the kernel does not compare, each counts as another. */
static bool is_same(int a, int b)
{
	pid_t me = getpid();

	return syscall(SYS_kcmp, me, me, KCMP_FILE, a, b) == 0;
}

static bool has(const struct fdstore *store, int fd)
{
	struct fdstore_entry *entry;

	list_for_each (entry, &store->entries, in_store)
		if (is_same(entry->fd, fd))
			return true;
	return false;
}

static int keep(struct fdstore *store, int fd, const char *name, bool poll)
{
	size_t size = strlen(name) + 1;
	struct fdstore_entry *entry = malloc(sizeof(*entry) + size);
	int r = 0;

	if (!entry)
		return -ENOMEM;
	*entry = (struct fdstore_entry){ .store = store, .fd = fd };
	memcpy(entry->name, name, size);
	/* A file has no other end, and epoll does not take it. */
	if (poll)
		r = sd_event_add_io(store->ctx->event, &entry->hangup, fd, 0, on_hangup, entry);
	if (r < 0 && r != -EPERM) {
		free(entry);
		return r;
	}
	list_append(&store->entries, &entry->in_store);
	store->n++;
	store->names_size += size;
	return 0;
}

int fdstore_add(struct fdstore *store, int fd, const char *name, bool poll)
{
	int r;

	if (has(store, fd))
		r = 1;
	else if (store->n >= store->max)
		r = -ENOBUFS;
	else
		r = keep(store, fd, name, poll);
	if (r != 0)
		(void)fd_close_passed(fd);
	return r;
}

size_t fdstore_remove(struct fdstore *store, const char *name)
{
	struct fdstore_entry *entry, *next;
	size_t n = 0;

	list_for_each_safe (entry, next, &store->entries, in_store) {
		if (strcmp(entry->name, name) != 0)
			continue;
		drop(entry);
		n++;
	}
	return n;
}

void fdstore_move(struct fdstore *store, struct fdstore *from)
{
	while (!list_is_empty(&from->entries) && store->n < store->max) {
		struct fdstore_entry *entry =
			list_entry(from->entries.next, struct fdstore_entry, in_store);
		size_t size = strlen(entry->name) + 1;

		list_remove(&entry->in_store);
		from->n--;
		from->names_size -= size;
		list_append(&store->entries, &entry->in_store);
		entry->store = store;
		store->n++;
		store->names_size += size;
	}
}

void fdstore_clear(struct fdstore *store)
{
	while (!list_is_empty(&store->entries))
		drop(list_entry(store->entries.next, struct fdstore_entry, in_store));
}
