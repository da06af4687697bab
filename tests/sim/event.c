/*
 * The functions of sd-event that the daemon uses, on the descriptors and the clock of the world.  Which
 * of several ready sources of one priority comes first is drawn.  Time moves only when none is ready.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <systemd/sd-event.h>

#include "base/list.h"
#include "base/macro.h"
#include "tests/sim/descriptors.h"
#include "tests/sim/files.h"
#include "tests/sim/kernel.h"
#include "tests/sim/system.h"

#define AT_ONCE 64 /* ready sources that are compared */

const struct system_driver *system_driver;

enum source_kind { SOURCE_IO, SOURCE_TIME, SOURCE_DEFER, SOURCE_FILES };

struct sd_event {
	struct list sources;
};

struct sd_event_source {
	struct list in_event;
	enum source_kind kind;
	int fd;
	bool own;
	uint32_t events;
	int enabled;
	int64_t priority;
	uint64_t usec;
	char directory[FILES_PATH]; /* SOURCE_FILES */
	unsigned seen;		    /* writes */
	sd_event_inotify_handler_t on_file;
	sd_event_io_handler_t on_io;
	sd_event_time_handler_t on_time;
	sd_event_handler_t on_defer;
	void *arg;
};

int sd_event_new(sd_event **ret)
{
	sd_event *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	list_init(&e->sources);
	*ret = e;
	return 0;
}

sd_event *sd_event_unref(sd_event *e)
{
	free(e);
	return NULL;
}

static int event_add(sd_event *e, sd_event_source **ret, enum source_kind kind, int enabled,
		     void *arg)
{
	sd_event_source *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->kind = kind;
	s->fd = -1;
	s->enabled = enabled;
	s->arg = arg;
	list_append(&e->sources, &s->in_event);
	*ret = s;
	return 0;
}

int sd_event_add_io(sd_event *e, sd_event_source **ret, int fd, uint32_t events,
		    sd_event_io_handler_t handler, void *arg)
{
	int error = kernel_fails(FAULT_POLL);
	int r = error ? -error : event_add(e, ret, SOURCE_IO, SD_EVENT_ON, arg);

	if (r < 0)
		return r;
	(*ret)->fd = fd;
	(*ret)->events = events;
	(*ret)->on_io = handler;
	return 0;
}

int sd_event_add_time(sd_event *e, sd_event_source **ret, clockid_t clock, uint64_t usec,
		      uint64_t accuracy, sd_event_time_handler_t handler, void *arg)
{
	int error = kernel_fails(FAULT_TIMER);
	int r = error ? -error : event_add(e, ret, SOURCE_TIME, SD_EVENT_ONESHOT, arg);

	if (r < 0)
		return r;
	(*ret)->usec = usec;
	(*ret)->on_time = handler;
	return 0;
}

int sd_event_add_defer(sd_event *e, sd_event_source **ret, sd_event_handler_t handler, void *arg)
{
	int r = event_add(e, ret, SOURCE_DEFER, SD_EVENT_ONESHOT, arg);

	if (r < 0)
		return r;
	(*ret)->on_defer = handler;
	return 0;
}

/* The directory of pid files is the one that exists. */
int sd_event_add_inotify(sd_event *e, sd_event_source **ret, const char *path, uint32_t mask,
			 sd_event_inotify_handler_t handler, void *arg)
{
	int error = strcmp(path, "/run") == 0 ? kernel_fails(FAULT_WATCH) : ENOENT;
	int r = error ? -error : event_add(e, ret, SOURCE_FILES, SD_EVENT_ON, arg);

	if (r < 0)
		return r;
	(void)snprintf((*ret)->directory, sizeof((*ret)->directory), "%s", path);
	(*ret)->seen = files_count_writes();
	(*ret)->on_file = handler;
	return 0;
}

sd_event_source *sd_event_source_disable_unref(sd_event_source *s)
{
	if (!s)
		return NULL;
	list_remove(&s->in_event);
	if (s->own)
		(void)descriptors_close(s->fd);
	free(s);
	return NULL;
}

sd_event_source *sd_event_source_unref(sd_event_source *s)
{
	return sd_event_source_disable_unref(s);
}

int sd_event_source_set_enabled(sd_event_source *s, int enabled)
{
	if (s)
		s->enabled = enabled;
	return 0;
}

int sd_event_source_set_io_events(sd_event_source *s, uint32_t events)
{
	s->events = events;
	return 0;
}

int sd_event_source_set_io_fd_own(sd_event_source *s, int own)
{
	s->own = own;
	return 0;
}

int sd_event_source_set_priority(sd_event_source *s, int64_t priority)
{
	s->priority = priority;
	return 0;
}

int sd_event_source_set_time(sd_event_source *s, uint64_t usec)
{
	s->usec = usec;
	return 0;
}

int sd_event_source_set_prepare(sd_event_source *s, sd_event_handler_t handler)
{
	return 0;
}

int sd_event_source_set_ratelimit(sd_event_source *s, uint64_t interval, unsigned burst)
{
	return 0;
}

int sd_event_source_set_ratelimit_expire_callback(sd_event_source *s, sd_event_handler_t handler)
{
	return 0;
}

/* --- the loop --- */

static uint32_t source_ready_events(const sd_event_source *s)
{
	if (s->enabled == SD_EVENT_OFF)
		return 0;
	if (s->kind == SOURCE_IO)
		return descriptors_poll(s->fd) & (s->events | EPOLLHUP | EPOLLERR);
	if (s->kind == SOURCE_FILES)
		return s->seen != files_count_writes();
	return s->kind == SOURCE_DEFER || s->usec <= kernel.now_usec;
}

static sd_event_source *event_choose(sd_event *e)
{
	sd_event_source *s, *ready[AT_ONCE];
	size_t n = 0;

	list_for_each (s, &e->sources, in_event) {
		if (n == AT_ONCE || !source_ready_events(s))
			continue;
		if (n > 0 && s->priority < ready[0]->priority)
			n = 0;
		if (n == 0 || s->priority == ready[0]->priority)
			ready[n++] = s;
	}
	return n == 0 ? NULL : n == 1 ? ready[0] : ready[kernel_random((unsigned)n)];
}

static void source_dispatch_file(sd_event_source *s)
{
	_Alignas(struct inotify_event) char buf[sizeof(struct inotify_event) + FILES_PATH] = "";
	struct inotify_event *event = (struct inotify_event *)(void *)buf;
	const char *path = files_written(s->seen++);
	size_t length = strlen(s->directory);

	if (strncmp(path, s->directory, length) != 0)
		return;
	event->mask = IN_CLOSE_WRITE;
	event->len = FILES_PATH;
	(void)strcpy(event->name, path + length + 1);
	(void)s->on_file(s, event, s->arg);
}

static void source_dispatch(sd_event_source *s)
{
	uint32_t events = source_ready_events(s);

	if (s->enabled == SD_EVENT_ONESHOT)
		s->enabled = SD_EVENT_OFF;
	if (s->kind == SOURCE_IO)
		(void)s->on_io(s, s->fd, events, s->arg);
	else if (s->kind == SOURCE_FILES)
		source_dispatch_file(s);
	else if (s->kind == SOURCE_TIME)
		(void)s->on_time(s, s->usec, s->arg);
	else
		(void)s->on_defer(s, s->arg);
}

static uint64_t event_next_usec(sd_event *e)
{
	uint64_t next = KERNEL_NEVER;
	sd_event_source *s;

	list_for_each (s, &e->sources, in_event)
		if (s->kind == SOURCE_TIME && s->enabled != SD_EVENT_OFF)
			next = MIN(next, s->usec);
	return next;
}

int sd_event_run(sd_event *e, uint64_t timeout_usec)
{
	uint64_t until =
		timeout_usec == KERNEL_NEVER ? KERNEL_NEVER : kernel.now_usec + timeout_usec;
	sd_event_source *s = event_choose(e);

	if (!s || s->kind != SOURCE_DEFER)
		system_driver->on_turn();
	for (;;) {
		uint64_t next;

		s = event_choose(e);
		if (s) {
			source_dispatch(s);
			return 1;
		}
		if (until <= kernel.now_usec)
			return 0;
		next = MIN(until, kernel_next_usec());
		next = MIN(next, system_driver->next_usec());
		next = MIN(next, event_next_usec(e));
		if (next == KERNEL_NEVER) {
			system_driver->on_rest();
			continue;
		}
		kernel.now_usec = MAX(kernel.now_usec, next);
		kernel_run();
		system_driver->on_time();
	}
}
