#include "daemon/streams/activation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "daemon/streams/listener.h"

#define NAMES_VARIABLE "LISTEN_FDNAMES="
#define PID_VARIABLE   "LISTEN_PID="

struct activation {
	struct context *ctx;
	const struct node_config *config;
	struct listener **listeners;
	size_t n_listeners;
	struct fdstore store;
	struct spawn_file *files; /* room for the sockets, the store, and what is added */
	char *names;		  /* likewise, for LISTEN_FDNAMES */
	char fds[sizeof("LISTEN_FDS=") + 20];
	char pid[sizeof(PID_VARIABLE) + SPAWN_PID_MAX];
};

DEFINE_CLEANUP(struct activation *, activation_free)

/* So that a start finds all the memory it needs, with @more in the store. */
static int reserve(struct activation *a, size_t more)
{
	const struct extras *extras = node_config_extras(a->config);
	size_t n = extras->n_listen + a->store.n + more;
	struct spawn_file *files = reallocarray(a->files, n + ACTIVATION_ROOM, sizeof(*files));
	char *names;

	if (!files)
		return -ENOMEM;
	a->files = files;
	names = realloc(a->names, sizeof(NAMES_VARIABLE) + n * FDNAME_MAX);
	if (!names)
		return -ENOMEM;
	a->names = names;
	return 0;
}

int activation_new(struct activation **ret, struct context *ctx, const struct node_config *config)
{
	cleanup(activation_freep) struct activation *a = NULL;
	const struct extras *extras = node_config_extras(config);
	size_t max = config->notify ? extras->fd_store_max : 0;
	int r;

	*ret = NULL;
	if (max == 0 && extras->n_listen == 0)
		return 0;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->ctx = ctx;
	a->config = node_config_ref(config);
	fdstore_init(&a->store, ctx, max);
	r = reserve(a, 0);
	if (r < 0)
		return r;
	a->listeners = calloc(extras->n_listen + 1, sizeof(struct listener *));
	if (!a->listeners)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < extras->n_listen; i++) {
		r = listener_get(&a->listeners[i], ctx, config, &extras->listen[i]);
		a->n_listeners += r == 0;
	}
	if (r == 0)
		*ret = take(a);
	return r;
}

struct activation *activation_free(struct activation *a)
{
	if (!a)
		return NULL;
	activation_unlisten(a);
	fdstore_clear(&a->store);
	free(a->listeners);
	free(a->files);
	free(a->names);
	node_config_unref(a->config);
	free(a);
	return NULL;
}

struct fdstore *activation_fdstore(struct activation *a)
{
	return &a->store;
}

int activation_store(struct activation *a, int fd, const char *name, bool poll)
{
	int r = reserve(a, 1);

	if (r < 0) {
		(void)fd_close_passed(fd);
		return r;
	}
	return fdstore_add(&a->store, fd, name, poll);
}

int activation_inherit(struct activation *a, struct activation *from)
{
	int r = reserve(a, from->store.n);

	if (r == 0)
		fdstore_move(&a->store, &from->store);
	return r;
}

void activation_unlisten(struct activation *a)
{
	while (a->n_listeners > 0)
		listener_put(a->listeners[--a->n_listeners]);
}

/* The next descriptor, called @name, whose name goes to @at.  Returns the end of the names. */
static char *add(struct activation_plan *plan, char *at, int fd, const char *name)
{
	plan->files[plan->n_files] = (struct spawn_file){
		.from = fd,
		.to = ACTIVATION_FIRST_FD + (int)plan->n_files,
	};
	if (plan->n_files++ > 0)
		*at++ = ':';
	return stpcpy(at, name);
}

void activation_plan(struct activation *a, struct activation_plan *plan)
{
	const struct extras *extras = node_config_extras(a->config);
	char *at = stpcpy(a->names, NAMES_VARIABLE);
	const struct fdstore_entry *entry;

	*plan = (struct activation_plan){ .files = a->files };
	for (size_t i = 0; i < a->n_listeners; i++)
		at = add(plan, at, listener_fd(a->listeners[i]), extras->listen[i].name);
	list_for_each (entry, &a->store.entries, in_store)
		at = add(plan, at, entry->fd, entry->name);
	if (plan->n_files == 0)
		return;
	(void)snprintf(a->fds, sizeof(a->fds), "LISTEN_FDS=%zu", plan->n_files);
	plan->pid = stpcpy(a->pid, PID_VARIABLE);
	plan->variables[0] = a->pid;
	plan->variables[1] = a->fds;
	plan->variables[2] = a->names;
}
