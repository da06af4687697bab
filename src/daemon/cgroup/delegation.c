/*
 * The hierarchy is set up once, at the start: a group for the services, under a lock, and a group
 * for the daemon itself, as limits require groups without processes of their own.  One inotify
 * descriptor watches all groups.  At the end all is removed, and the daemon moves back.
 */
#include "daemon/cgroup/delegation.h"

#include <sys/file.h>
#include <sys/inotify.h>

#include "sys/process/cgroup.h"

#define TOP_PREFIX  "swansong-"
#define OWN_PREFIX  "swansongd-"
#define NODE_PREFIX "node:"
/* Limits the daemons without a socket in one group. */
#define TOPS_MAX	 64
#define END_TIMEOUT_MSEC 1000
#define THAW_AFTER_USEC	 (100 * USEC_PER_MSEC)

DEFINE_CLEANUP(struct cgroups *, cgroups_free)

/* --- names --- */

char *cgroups_name(char buf[static CGROUP_NAME_MAX], const char *path)
{
	(void)snprintf(buf, CGROUP_NAME_MAX, NODE_PREFIX "%s", path);
	for (char *p = buf; *p; p++)
		if (*p == '/')
			*p = ':';
	return buf;
}

int cgroups_node_of_name(const char *name, char path[static CONFIG_NAME_MAX + 1])
{
	size_t length;

	if (strncmp(name, NODE_PREFIX, strlen(NODE_PREFIX)) != 0)
		return -ENOENT;
	name += strlen(NODE_PREFIX);
	length = strcspn(name, "/");
	if (length > CONFIG_NAME_MAX)
		return -ENOENT;
	for (size_t i = 0; i < length; i++)
		path[i] = name[i] == ':' ? '/' : name[i];
	path[length] = '\0';
	return 0;
}

int cgroups_node_of(const struct cgroups *c, pid_t pid, char path[static CONFIG_NAME_MAX + 1])
{
	size_t length = strlen(c->top_path);
	char group[CGROUP_PATH_MAX];
	int r = cgroup_of(pid, group);

	if (context_is_shortage(r))
		return r;
	if (r < 0 || strncmp(group, c->top_path, length) != 0 || group[length] != '/')
		return -ENOENT;
	return cgroups_node_of_name(group + length + 1, path);
}

/* --- groups of services --- */

static int cgroups_with_spare_fd(struct cgroups *c, int (*operation)(int top, const char *path),
				 const char *name)
{
	struct context *ctx = c->ctx;
	int r = operation(c->top, name);

	if ((r != -EMFILE && r != -ENFILE) || !context_give_up_spare(ctx))
		return r;
	r = operation(c->top, name);
	context_take_spare(ctx);
	return r;
}

int cgroups_is_populated(struct cgroups *c, const char *name)
{
	return cgroups_with_spare_fd(c, cgroup_is_populated, name);
}

int cgroups_kill(struct cgroups *c, const char *name)
{
	return cgroups_with_spare_fd(c, cgroup_kill, name);
}

struct signalling {
	int signo;
	char path[CGROUP_PATH_MAX];
};

static void cgroups_signal_process(pid_t pid, void *arg)
{
	const struct signalling *signalling = arg;

	cgroup_signal(pid, signalling->path, signalling->signo);
}

void cgroups_signal(const struct cgroups *c, const char *name, int signo)
{
	struct signalling s = { .signo = signo };
	int n = snprintf(s.path, sizeof(s.path), "%s/%s", c->top_path, name);

	if (n > 0 && n < (int)sizeof(s.path))
		(void)cgroup_processes(c->top, name, cgroups_signal_process, &s);
}

int cgroups_enable(struct cgroups *c, const char *controller)
{
	char word[32];
	int r;

	if (cgroup_lists(c->top, ".", "cgroup.subtree_control", controller))
		return 0;
	if (!cgroup_lists(c->own, ".", "cgroup.controllers", controller))
		return -ENOENT;
	(void)snprintf(word, sizeof(word), "+%s", controller);
	r = cgroup_write(c->own, ".", "cgroup.subtree_control", word);
	return r < 0 ? r : cgroup_write(c->top, ".", "cgroup.subtree_control", word);
}

/* --- changes of groups --- */

int cgroups_watch(struct cgroups *c, const char *name, struct cgroup_watch *watch)
{
	char path[CGROUP_NAME_MAX + 64];
	int id;

	if (watch->id > 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s/cgroup.events", c->top, name);
	id = inotify_add_watch(c->inotify, path, IN_MODIFY);
	if (id < 0)
		return -errno;
	watch->id = id;
	if (list_is_empty(&watch->in_watches))
		list_append(&c->watches, &watch->in_watches);
	return 0;
}

void cgroups_unwatch(struct cgroups *c, struct cgroup_watch *watch)
{
	if (watch->id > 0)
		(void)inotify_rm_watch(c->inotify, watch->id);
	list_remove(&watch->in_watches);
	watch->id = 0;
	watch->thaw = false;
}

void cgroups_thaw_soon(struct cgroups *c, struct cgroup_watch *watch)
{
	watch->thaw = true;
	if (list_is_empty(&watch->in_watches))
		list_append(&c->watches, &watch->in_watches);
	if (c->thaw_timer.usec == USEC_INFINITY)
		alarm_set(&c->ctx->alarms, &c->thaw_timer, clock_now_usec() + THAW_AFTER_USEC);
}

static void cgroups_on_thaw_timer(struct alarm *alarm)
{
	struct cgroups *c = container_of(alarm, struct cgroups, thaw_timer);
	struct cgroup_watch *watch, *next;

	list_for_each_safe (watch, next, &c->watches, in_watches) {
		if (!watch->thaw)
			continue;
		watch->thaw = false;
		if (watch->id == 0)
			list_remove(&watch->in_watches);
		c->thaw_now(watch);
	}
}

static int cgroups_on_inotify(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	_Alignas(struct inotify_event) char buf[4096];
	const struct inotify_event *event;
	struct cgroup_watch *watch, *next;
	struct cgroups *c = arg;
	ssize_t n = read(fd, buf, sizeof(buf));
	int id;

	for (char *p = buf; n > 0 && p < buf + n; p += sizeof(*event) + event->len) {
		event = (const struct inotify_event *)(const void *)p;
		/* an overflow may concern any group: -1 */
		id = event->mask & IN_Q_OVERFLOW ? -1 : event->wd;
		list_for_each_safe (watch, next, &c->watches, in_watches)
			if (watch->id == id || id < 0)
				c->changed(watch);
	}
	return 0;
}

/* --- start --- */

/*
 * Locks the group, if no other daemon has done so and the name has not been given to a new group.
 */
static int cgroups_lock_group(int parent, const char *name)
{
	cleanup(closep) int fd = cgroup_open_below(parent, name);
	struct stat a, b;

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	if (fstat(fd, &a) < 0 || fstatat(parent, name, &b, AT_SYMLINK_NOFOLLOW) < 0 ||
	    a.st_ino != b.st_ino)
		return -EAGAIN;
	return take_fd(fd);
}

/* Removes groups of killed daemons that have left nothing else. */
static void cgroups_collect_group(const char *name, void *arg)
{
	const struct cgroups *c = arg;
	cleanup(closep) int fd = -1;

	if (strncmp(name, OWN_PREFIX, strlen(OWN_PREFIX)) == 0)
		(void)cgroup_remove(c->own, name);
	if (strncmp(name, TOP_PREFIX, strlen(TOP_PREFIX)) != 0)
		return;
	fd = cgroups_lock_group(c->own, name);
	if (fd >= 0 && cgroup_is_populated(c->own, name) == 0)
		(void)cgroup_remove(c->own, name);
}

/*
 * Opens a group that no daemon has locked.  Without a @socket that identifies it, it must be empty,
 * too.
 */
static int cgroups_open_top(struct cgroups *c, const char *socket)
{
	char id[16] = "none";
	int r = -EAGAIN;

	if (socket)
		(void)snprintf(id, sizeof(id), "%08x", text_hash(socket));
	for (unsigned i = 1; r == -EAGAIN && i <= TOPS_MAX; i++) {
		char suffix[8] = "";

		if (i > 1)
			(void)snprintf(suffix, sizeof(suffix), ".%u", i);
		(void)snprintf(c->top_name, sizeof(c->top_name), TOP_PREFIX "%s%s", id, suffix);
		(void)snprintf(c->own_name, sizeof(c->own_name), OWN_PREFIX "%s%s", id, suffix);
		r = cgroup_make(c->own, c->top_name);
		if (r == 0)
			r = cgroups_lock_group(c->own, c->top_name);
		if (r >= 0 && !socket && cgroup_is_populated(c->own, c->top_name) != 0) {
			(void)close(r);
			r = -EAGAIN;
		}
	}
	if (r < 0)
		return r;
	c->top = r;
	return 0;
}

/* Return: 0 or -errno.  A keeper goes where the daemon goes. */
static int cgroups_move_to(const struct cgroups *c, const char *group)
{
	char reaper[16];

	(void)snprintf(reaper, sizeof(reaper), "%d", (int)c->ctx->keeper.reaper);
	(void)cgroup_write(c->own, group, "cgroup.procs", reaper);
	return cgroup_write(c->own, group, "cgroup.procs", "0");
}

static int cgroups_set_up(struct cgroups *c, const char *path, const char *socket)
{
	int r = cgroups_open_top(c, socket);

	if (r < 0)
		return r;
	c->top_path = text_format("%s/%s", strcmp(path, "/") == 0 ? "" : path, c->top_name);
	if (!c->top_path)
		return -ENOMEM;
	c->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	r = context_watch_owned(c->ctx, &c->source, c->inotify < 0 ? -errno : c->inotify, EPOLLIN,
				cgroups_on_inotify, c);
	if (r < 0)
		return r;
	(void)cgroup_children(c->own, cgroups_collect_group, c);
	/* Processes in the group of the start forbid limits below it; without this, all else works. */
	if (!cgroup_is_machine_root(c->own) && cgroup_make(c->own, c->own_name) >= 0) {
		c->moved = cgroups_move_to(c, c->own_name) == 0;
		if (!c->moved)
			(void)cgroup_remove(c->own, c->own_name);
	}
	return 0;
}

int cgroups_new(struct cgroups **ret, struct context *ctx, const char *socket)
{
	cleanup(cgroups_freep) struct cgroups *c = NULL;
	char path[CGROUP_PATH_MAX];
	int r;

	*ret = NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	*c = (struct cgroups){ .ctx = ctx, .top = -1 };
	list_init(&c->watches);
	alarm_init(&c->thaw_timer, cgroups_on_thaw_timer);
	r = cgroup_of(getpid(), path);
	if (r >= 0 && ctx->reason) {
		/* Before its fault the daemon has moved to a group of its own. */
		char *name = strrchr(path, '/');

		if (name && strncmp(name + 1, OWN_PREFIX, strlen(OWN_PREFIX)) == 0)
			name[name == path] = '\0';
	}
	c->own = r < 0 ? r : cgroup_open(path);
	if (c->own < 0 || !cgroup_is_delegated(c->own, path)) {
		log_line(ctx->log, LOG_DEBUG, "no control groups: %s",
			 c->own < 0 ? "no hierarchy of version 2"
				    : "the group of swansongd is not delegated");
		return 0;
	}
	r = cgroups_set_up(c, path, socket);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		log_line(ctx->log, LOG_WARNING, "no control groups below %s: %s", path,
			 strerror(-r));
		return 0;
	}
	log_line(ctx->log, LOG_DEBUG, "control groups are in %s", c->top_path);
	*ret = take(c);
	return 0;
}

/* --- end --- */

static void cgroups_await_empty(int top, const char *name)
{
	uint64_t end = clock_now_usec() + END_TIMEOUT_MSEC * USEC_PER_MSEC;
	cleanup(closep) int group = openat(top, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup(closep) int fd = openat(group, "cgroup.events", O_RDONLY | O_CLOEXEC);
	struct pollfd events = { .fd = fd, .events = POLLPRI };

	while (fd >= 0 && cgroup_is_populated(top, name) == 1 && clock_now_usec() < end)
		(void)poll(&events, 1, END_TIMEOUT_MSEC);
}

/* Leaves the group as it was at the start, except for changes by others. */
static void cgroups_move_daemon_back(struct cgroups *c)
{
	static const char *const controllers[] = { "-memory", "-pids", "-cpu", "-io" };

	for (size_t i = 0; i < ARRAY_SIZE(controllers); i++)
		(void)cgroup_write(c->own, ".", "cgroup.subtree_control", controllers[i]);
	if (cgroups_move_to(c, ".") < 0)
		return;
	/* The logger of a daemon that was killed ends with the last service of that daemon. */
	cgroups_await_empty(c->own, c->own_name);
	(void)cgroup_remove(c->own, c->own_name);
}

struct cgroups *cgroups_free(struct cgroups *c)
{
	if (!c)
		return NULL;
	alarm_stop(&c->ctx->alarms, &c->thaw_timer);
	sd_event_source_disable_unref(c->source);
	if (c->top >= 0 && c->top_path) {
		int r;

		if (cgroup_is_populated(c->top, ".") == 1) {
			log_line(c->ctx->log, LOG_WARNING, "killing the remaining processes in %s",
				 c->top_path);
			(void)cgroups_kill(c, ".");
			cgroups_await_empty(c->top, ".");
		}
		r = cgroup_remove(c->own, c->top_name);
		if (r < 0)
			log_line(c->ctx->log, LOG_WARNING, "cannot remove the control group %s: %s",
				 c->top_path, strerror(-r));
	}
	if (c->moved)
		cgroups_move_daemon_back(c);
	(void)fd_close(c->top);
	(void)fd_close(c->own);
	free(c->top_path);
	return free_memory(c);
}
