/*
 * An inotify watch is on the directory of the file; if that is missing, on the deepest directory
 * of the path that exists.  Only the next name of the path is awaited there.  The caller begins
 * the watch again after each change, which moves it closer to the file.
 */
#include "daemon/probe/pid-watch.h"

#include <sys/inotify.h>

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

static int pid_watch_on_event(sd_event_source *source, const struct inotify_event *event, void *arg)
{
	struct pid_watch *w = arg;

	if (event->len > w->length && memcmp(event->name, w->awaited, w->length) == 0 &&
	    event->name[w->length] == '\0')
		w->on_change(w->arg);
	return 0;
}

/* Watches the directory that is the first @length bytes of the path. */
static int pid_watch_add_directory(struct pid_watch *w, size_t length)
{
	char directory[PATH_MAX];

	if (length >= sizeof(directory))
		return -ENAMETOOLONG;
	(void)snprintf(directory, sizeof(directory), "%.*s", length ? (int)length : 1, w->path);
	w->awaited = w->path + length + 1;
	w->length = strcspn(w->awaited, "/");
	return sd_event_add_inotify(w->ctx->event, &w->source, directory, CHANGES | IN_ONLYDIR,
				    pid_watch_on_event, w);
}

int pid_watch_begin(struct pid_watch *w)
{
	const char *slash = strrchr(w->path, '/');
	int r = -ENOENT;

	pid_watch_end(w);
	while (slash && r == -ENOENT) {
		size_t length = (size_t)(slash - w->path);

		r = pid_watch_add_directory(w, length);
		slash = memrchr(w->path, '/', length);
	}
	return r < 0 ? r : 0;
}

void pid_watch_end(struct pid_watch *w)
{
	w->source = sd_event_source_disable_unref(w->source);
}
