/*
 * Memory for the plan of a start is taken when a socket or a descriptor is added, so a start never
 * fails for lack of it.
 */
#include "daemon/streams/activation.h"

#include "daemon/streams/listener.h"
#include "sys/ipc/connections.h"

#define NAMES_VARIABLE "LISTEN_FDNAMES="
#define PID_VARIABLE   "LISTEN_PID="

struct activation {
	struct context *ctx;
	const struct node_config *config;
	struct listener **listeners;
	size_t n_listeners;
	sd_event_source **watches; /* of the listeners, each of its own descriptor; or NULL */
	void (*on_connection)(void *arg);
	void *arg;
	struct fdstore store;
	struct spawn_file *files; /* room for the sockets, the store and ACTIVATION_ROOM */
	char *names;		  /* likewise, for LISTEN_FDNAMES */
	char fds[sizeof("LISTEN_FDS=") + 20];
	char pid[sizeof(PID_VARIABLE) + SPAWN_PID_MAX];
};

DEFINE_CLEANUP(struct activation *, activation_free)

/* Takes the memory that a start needs, with @more descriptors in the store. */
static int activation_reserve(struct activation *a, size_t more)
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

int activation_listen(struct activation *a)
{
	const struct extras *extras = node_config_extras(a->config);
	int r = 0;

	while (r == 0 && a->n_listeners < extras->n_listen) {
		size_t n = a->n_listeners;

		r = listener_get(&a->listeners[n], a->ctx, a->config, KEY_LISTEN,
				 &extras->listen[n]);
		a->n_listeners += r == 0;
	}
	return r;
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
	fdstore_init(&a->store, ctx, config->path, max);
	r = activation_reserve(a, 0);
	if (r < 0)
		return r;
	a->listeners = calloc(extras->n_listen + 1, sizeof(struct listener *));
	a->watches = calloc(extras->n_listen + 1, sizeof(sd_event_source *));
	if (!a->listeners || !a->watches)
		return -ENOMEM;
	r = activation_listen(a);
	/* It is opened for the start, before which the processes of an earlier daemon are stopped. */
	if (r < 0 && r != -EBUSY)
		return r;
	*ret = take(a);
	return 0;
}

struct activation *activation_free(struct activation *a)
{
	if (!a)
		return NULL;
	activation_unlisten(a);
	fdstore_clear(&a->store);
	free(a->watches);
	free(a->listeners);
	free(a->files);
	free(a->names);
	node_config_unref(a->config);
	return free_memory(a);
}

struct fdstore *activation_fdstore(struct activation *a)
{
	return &a->store;
}

int activation_store(struct activation *a, int fd, const char *name, bool poll)
{
	int r = activation_reserve(a, 1);

	return r < 0 ? r : fdstore_add(&a->store, fd, name, poll);
}

int activation_inherit(struct activation *a, struct activation *from)
{
	int r = activation_reserve(a, from->store.n);

	if (r == 0)
		fdstore_move(&a->store, &from->store);
	return r;
}

void activation_unlisten(struct activation *a)
{
	while (a->n_listeners > 0) {
		size_t last = --a->n_listeners;

		a->watches[last] = sd_event_source_disable_unref(a->watches[last]);
		listener_put(a->listeners[last]);
	}
}

bool activation_is_listening(const struct activation *a)
{
	return a && a->n_listeners > 0;
}

static int activation_on_connection(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct activation *a = arg;

	a->on_connection(a->arg);
	return 0;
}

int activation_watch(struct activation *a, void (*fn)(void *arg), void *arg)
{
	int r = 0;

	a->on_connection = fn;
	a->arg = arg;
	for (size_t i = 0; r >= 0 && i < a->n_listeners; i++) {
		if (!a->watches[i]) {
			/* A copy of the descriptor, as two services may watch a socket that they share. */
			int fd = fcntl(listener_fd(a->listeners[i]), F_DUPFD_CLOEXEC, 3);

			/* EPOLLET: the connection that was reported may not have been accepted yet. */
			r = context_watch_owned(a->ctx, &a->watches[i], fd < 0 ? -errno : fd,
						EPOLLIN | EPOLLET, activation_on_connection, a);
		}
		if (r >= 0)
			r = sd_event_source_set_enabled(a->watches[i], SD_EVENT_ONESHOT);
	}
	return r < 0 ? r : 0;
}

int activation_has_connections(const struct activation *a)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->n_listeners; i++)
		r = connections_are_open(listener_fd(a->listeners[i]));
	return r;
}

/* Adds a descriptor, and its @name at @at.  Returns the end of the names. */
static char *activation_add_file(struct activation_plan *plan, char *at, int fd, const char *name)
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
		at = activation_add_file(plan, at, listener_fd(a->listeners[i]),
					 extras->listen[i].name);
	list_for_each (entry, &a->store.entries, in_store)
		at = activation_add_file(plan, at, entry->fd, entry->name);
	if (plan->n_files == 0)
		return;
	(void)snprintf(a->fds, sizeof(a->fds), "LISTEN_FDS=%zu", plan->n_files);
	plan->pid = stpcpy(a->pid, PID_VARIABLE);
	plan->variables[0] = a->pid;
	plan->variables[1] = a->fds;
	plan->variables[2] = a->names;
}
