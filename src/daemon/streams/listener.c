/*
 * The listeners of the context are a list that is searched by address.  A listener counts the
 * services that share it.
 */
#include "daemon/streams/listener.h"

#include "daemon/cgroup/delegation.h"
#include "daemon/loop/mark.h"
#include "model/keys/section.h"
#include "sys/ipc/connections.h"
#include "sys/ipc/held.h"
#include "sys/ipc/inetsock.h"
#include "sys/ipc/passed.h"
#include "sys/ipc/unixsock.h"
#include "sys/process/cgroup.h"
#include "sys/process/children.h"

struct listener {
	struct list in_context;
	unsigned refs;
	enum key_id key;
	struct listen listen; /* a copy: the configuration may go before it */
	int fd;
	struct context *ctx;
	unsigned place; /* of its row in the roster */
	/* Identify the path, which is removed only if it still leads to this socket. */
	dev_t device;
	ino_t inode;
};

static struct listener *listener_find(struct context *ctx, enum key_id key,
				      const struct listen *listen)
{
	struct listener *l;

	list_for_each (l, &ctx->listeners, in_context)
		if (l->key == key && listen_compare(&l->listen, listen) == 0)
			return l;
	return NULL;
}

static int listener_note_path(void *arg)
{
	struct listener *l = arg;
	struct stat st;

	if (lstat(l->listen.address, &st) < 0)
		return -errno;
	l->device = st.st_dev;
	l->inode = st.st_ino;
	return 0;
}

static int listener_bind(void *arg)
{
	struct listener *l = arg;
	const struct listen *what = &l->listen;
	cleanup(closep) int fd =
		unix_bind(what->address, SOCK_STREAM, (mode_t)what->mode, what->owner, what->group);
	int r = fd < 0 ? fd : listener_note_path(l);

	return r < 0 ? r : take_fd(fd);
}

static int listener_remove_path(void *arg)
{
	const struct listener *l = arg;

	unix_remove(l->listen.address, l->device, l->inode);
	return 0;
}

/* The path is the service's, and may lead to any file system. */
static int listener_call(struct listener *l, int (*fn)(void *arg))
{
	return mount_call(l->listen.address, MOUNT_ANSWER_MSEC, fn, l, sizeof(*l));
}

static int listener_open_unix(struct listener *l)
{
	cleanup(closep) int fd = listener_call(l, listener_bind);

	if (fd < 0)
		return fd;
	/* A service may want descriptors.  Connections inherit the option. */
	if (l->key == KEY_AGENT)
		unix_refuse_descriptors(fd);
	return listen(fd, SOMAXCONN) < 0 ? -errno : take_fd(fd);
}

struct left {
	const struct context *ctx;
	const struct node_config *config;
	bool other; /* the group belongs to another service */
	int type;
	socklen_t length;
	union socket_address address;
	int fd; /* or -errno */
};

static void listener_on_left_process(pid_t pid, void *arg)
{
	struct left *left = arg;
	int r = left->fd >= 0 ? -ENOENT
			      : held_take(pid, &left->address.any, left->length, left->type);

	if (r != -ENOENT)
		left->fd = r >= 0 && left->other ? (passed_close_now(r), -EPERM) : r;
}

static void listener_on_left_group(const char *group, void *arg)
{
	struct left *left = arg;
	char own[CGROUP_NAME_MAX];
	size_t n = strlen(cgroups_name(own, left->config->path));

	left->other = strncmp(group, own, n) != 0 || (group[n] && group[n] != '~');
	(void)cgroup_processes(left->ctx->cgroups->top, group, listener_on_left_process, left);
}

/* Without control groups: a process of another user may claim anything. */
static void listener_on_child(pid_t pid, void *arg)
{
	struct left *left = arg;
	const struct credentials *user = &node_config_extras(left->config)->credentials;
	uid_t uid;

	if (proc_uid(pid, &uid) == 0 && (uid == 0 || uid == (user->set ? user->uid : geteuid())))
		listener_on_left_process(pid, left);
}

static int listener_on_any_process(pid_t pid, void *arg)
{
	struct left *left = arg;

	listener_on_child(pid, left);
	if (left->fd != -ENOENT && !mark_is_left(left->ctx, pid)) {
		(void)passed_close_now(left->fd);
		left->fd = -ENOENT;
	}
	return left->fd != -ENOENT;
}

/* While nothing was launched, all processes in the control groups are of an earlier daemon. */
static int listener_open_socket(struct listener *l, const struct node_config *config)
{
	const struct context *ctx = l->ctx;
	bool is_unix = l->listen.kind == LISTEN_UNIX;
	struct left left = { .ctx = ctx,
			     .config = config,
			     .type = l->listen.kind == LISTEN_UDP ? SOCK_DGRAM : SOCK_STREAM,
			     .fd = -ENOENT };
	int fd;

	memcpy(&left.address, &l->listen.inet, sizeof(l->listen.inet));
	left.length = left.address.any.sa_family == AF_INET6 ? sizeof(left.address.in6)
							     : sizeof(left.address.in);
	fd = is_unix ? listener_open_unix(l)
		     : inet_listen(&left.address.any, left.length, left.type);
	if (fd != -EADDRINUSE || ctx->launched > 0)
		return fd;
	if (is_unix) {
		left.address.un = (struct sockaddr_un){ .sun_family = AF_UNIX };
		(void)stpcpy(left.address.un.sun_path, l->listen.address);
		left.length = sizeof(left.address.un);
	}
	if (ctx->cgroups) {
		(void)cgroup_children(ctx->cgroups->top, listener_on_left_group, &left);
	} else if (!ctx->reason) {
		if (ctx->environment.mark)
			(void)proc_each(listener_on_any_process, &left);
	} else {
		struct children children;

		/* After a fault such processes are children of the daemon. */
		if (children_open(&children, ctx->keeper.reaper) >= 0) {
			(void)children_read(&children, listener_on_child, &left);
			children_close(&children);
		}
	}
	return left.fd >= 0 ? left.fd : left.fd == -ENOENT ? fd : -EBUSY;
}

/* Takes the socket of the former image of the daemon, also if its path has gone, else opens one. */
static int listener_open(struct listener *l, const struct node_config *config)
{
	cleanup(freep) char *name = text_format("%s %s%s", keys[l->key].name,
						listen_prefix(l->listen.kind), l->listen.address);
	bool former;
	int r;

	if (!name)
		return -ENOMEM;
	l->fd = roster_take_descriptor(l->ctx->roster, name, NULL);
	former = l->fd >= 0;
	if (!former)
		l->fd = listener_open_socket(l, config);
	if (l->fd < 0)
		return l->fd;
	r = l->listen.kind == LISTEN_UNIX && !l->inode ? listener_call(l, listener_note_path) : 0;
	if (r < 0 && !former)
		return r;
	roster_enter_descriptor(l->ctx->roster, &l->place, l->fd, 0, name);
	return 0;
}

struct listener *listener_put(struct listener *l)
{
	if (!l || --l->refs > 0)
		return NULL;
	list_remove(&l->in_context);
	roster_write(l->ctx->roster, &l->place, NULL);
	if (l->inode)
		(void)listener_call(l, listener_remove_path);
	/* Connections that no process has accepted may have descriptors. */
	(void)(l->listen.kind == LISTEN_UNIX ? passed_close_now(l->fd) : fd_close(l->fd));
	free(l->listen.address);
	return free_memory(l);
}

DEFINE_CLEANUP(struct listener *, listener_put)

static int listener_new(struct listener **ret, struct context *ctx,
			const struct node_config *config, enum key_id key,
			const struct listen *listen)
{
	cleanup(listener_putp) struct listener *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	*l = (struct listener){ .refs = 1, .key = key, .listen = *listen, .fd = -1, .ctx = ctx };
	list_init(&l->in_context);
	l->listen.name = NULL;
	l->listen.address = strdup(listen->address);
	if (!l->listen.address)
		return -ENOMEM;
	r = listener_open(l, config);
	if (r < 0)
		return r;
	list_append(&ctx->listeners, &l->in_context);
	*ret = take(l);
	return 0;
}

int listener_get(struct listener **ret, struct context *ctx, const struct node_config *config,
		 enum key_id key, const struct listen *listen)
{
	struct place place = key_source_of(config, key).place;
	struct listener *l = listener_find(ctx, key, listen);
	int r;

	if (l) {
		l->refs++;
		*ret = l;
		return 0;
	}
	r = listener_new(ret, ctx, config, key, listen);
	if (r == 0)
		return 0;
	free(ctx->refused);
	ctx->refused = text_format(
		"%s:%u: [%s] %s: cannot listen on %s%s: %s", place.file ? place.file : "?",
		place.line, node_config_section(config), keys[key].name,
		listen_prefix(listen->kind), listen->address,
		r == -EBUSY ? "a process of an earlier swansongd may have it: opened at the start"
			    : path_error_text(-r));
	log_line(ctx->log, r == -EBUSY ? LOG_WARNING : LOG_ERR, "%s",
		 ctx->refused ? ctx->refused : strerror(-r));
	return r;
}

int listener_fd(const struct listener *l)
{
	return l->fd;
}
