/*
 * An inotify watch is on the directory of the file; if that is missing, on the deepest directory
 * of the path that exists.  Only the next name of the path is awaited there.  The caller begins
 * the watch again after each change, which moves it closer to the file.
 *
 * The event loop makes it, with one instance of inotify for all.  A file system that may hang is not
 * for it: there a child makes the watch, with an instance of its own.
 */
#include "daemon/probe/pid-watch.h"

#include <sys/inotify.h>

#include "sys/file/mount.h"

/* A daemon may keep the file open after it has written the pid. */
#define CHANGES (IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB)

struct pid_watch {
	struct context *ctx;
	const char *path;
	void (*on_change)(void *arg);
	void *arg;
	sd_event_source *source; /* NULL: not watched */
	const char *awaited;	 /* the name in the watched directory, a part of the path */
	size_t length;
};

int pid_watch_new(struct pid_watch **ret, struct context *ctx, const char *path,
		  void (*on_change)(void *arg), void *arg)
{
	struct pid_watch *w = malloc(sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct pid_watch){ .ctx = ctx, .path = path, .on_change = on_change, .arg = arg };
	*ret = w;
	return 0;
}

struct pid_watch *pid_watch_free(struct pid_watch *w)
{
	if (w)
		pid_watch_end(w);
	return free_memory(w);
}

static bool pid_watch_awaits(const struct pid_watch *w, const struct inotify_event *event)
{
	return event->len > w->length && memcmp(event->name, w->awaited, w->length) == 0 &&
	       event->name[w->length] == '\0';
}

static int pid_watch_on_event(sd_event_source *source, const struct inotify_event *event, void *arg)
{
	struct pid_watch *w = arg;

	if (pid_watch_awaits(w, event))
		w->on_change(w->arg);
	return 0;
}

/* Of an instance of its own. */
static int pid_watch_on_input(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n = read(fd, buf, sizeof(buf));
	struct pid_watch *w = arg;
	bool awaited = false;

	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *event = (const void *)(buf + at);

		awaited |= pid_watch_awaits(w, event);
		at += (ssize_t)(sizeof(*event) + event->len);
	}
	if (awaited)
		w->on_change(w->arg);
	return 0;
}

static int pid_watch_open(void *arg)
{
	cleanup(closep) int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (fd < 0 || inotify_add_watch(fd, arg, CHANGES | IN_ONLYDIR) < 0)
		return -errno;
	return take_fd(fd);
}

static int pid_watch_add_directory(struct pid_watch *w, char *directory)
{
	int fd;

	if (mount_is_local(directory))
		return sd_event_add_inotify(w->ctx->event, &w->source, directory,
					    CHANGES | IN_ONLYDIR, pid_watch_on_event, w);
	fd = mount_call(directory, MOUNT_ANSWER_MSEC, pid_watch_open, directory, 0);
	if (fd < 0)
		return fd;
	if (sd_event_add_io(w->ctx->event, &w->source, fd, EPOLLIN, pid_watch_on_input, w) < 0)
		return fd_close(fd), -ENOMEM;
	return sd_event_source_set_io_fd_own(w->source, 1);
}

int pid_watch_begin(struct pid_watch *w)
{
	const char *slash = strrchr(w->path, '/');
	char directory[PATH_MAX];
	int r = -ENOENT;

	pid_watch_end(w);
	while (slash && r == -ENOENT) {
		size_t length = (size_t)(slash - w->path);

		if (length >= sizeof(directory))
			return -ENAMETOOLONG;
		(void)snprintf(directory, sizeof(directory), "%.*s", MAX((int)length, 1), w->path);
		w->awaited = slash + 1;
		w->length = strcspn(w->awaited, "/");
		r = pid_watch_add_directory(w, directory);
		slash = memrchr(w->path, '/', length);
	}
	return r < 0 ? r : 0;
}

void pid_watch_end(struct pid_watch *w)
{
	w->source = sd_event_source_disable_unref(w->source);
}
