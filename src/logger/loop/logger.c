/*
 * A turn: epoll; each pipe with output is read once; each helper that is idle gets a portion; readers
 * get what is new.  All pipes have the same priority, and a portion is small, so that a loud service
 * delays no other one for long.
 */
#include "logger/loop/logger.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

#include "logger/loop/control.h"
#include "logger/loop/deliver.h"
#include "logger/loop/input.h"
#include "logger/loop/reply.h"
#include "logger/loop/sandbox.h"
#include "logger/loop/sinks.h"

#define EVENTS_AT_ONCE 64
/* The time for the last output, after the end of the daemon and of all that could write. */
#define DRAIN_USEC (10 * USEC_PER_SEC)
/* Without the daemon the logger itself has to give up helpers that hang. */
#define ALONE_MSEC 1000

static void logger_on_control(struct logger *l)
{
	if (l->control < 0 || control_receive(l) == 0)
		return;
	logger_unwatch(l, l->control);
	l->control = -1;
	l->area.alone = true;
	/* Rules that have not come yet will never come. */
	for (uint32_t i = 0; i < l->n_used; i++)
		if (l->streams[i])
			deliver_queue(l, l->streams[i]);
}

/* A service may outlive the daemon, and write: it would die of SIGPIPE without a reader. */
static void logger_end_alone(struct logger *l)
{
	if (l->control >= 0 || l->end_usec != USEC_INFINITY || input_has_writers(l))
		return;
	l->end_usec = clock_add(l->now_usec, DRAIN_USEC);
	control_stop(l, 0);
}

static void logger_on_event(struct logger *l, uint64_t data)
{
	uint32_t number = (uint32_t)data;

	switch ((enum watch)(data >> 32)) {
	case WATCH_CONTROL:
		logger_on_control(l);
		break;
	case WATCH_STREAM:
		if (l->streams[number])
			input_event(l, l->streams[number]);
		break;
	case WATCH_TICK:
		input_tick(l);
		break;
	case WATCH_HELPER:
		deliver_event(l, number);
		break;
	case WATCH_VIEW:
		input_show_event(l, number);
		break;
	case WATCH_SINK:
		sink_event(l, number);
		break;
	case WATCH_OLDER: /* each turn goes on with the views anyway */
		break;
	}
}

static int logger_earlier_timeout(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* Return: 0, or -errno of the wait. */
static int logger_turn(struct logger *l)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int timeout = logger_earlier_timeout(deliver_timeout(l), input_timeout(l));
	int alone = l->control < 0 ? ALONE_MSEC : -1;
	int n = epoll_wait(l->epoll, events, EVENTS_AT_ONCE,
			   logger_earlier_timeout(timeout, alone));

	if (n < 0 && errno != EINTR)
		return -errno;
	l->now_usec = clock_now_usec();
	if (n != 1 || events[0].data.u64 >> 32 != WATCH_CONTROL)
		logger_set_timer(l);
	for (int i = 0; i < n; i++)
		logger_on_event(l, events[i].data.u64);
	logger_end_alone(l);
	input_resume(l);
	deliver_all(l);
	control_update(l);
	input_show(l);
	return 0;
}

/*
 * A helper that ends is reaped by the kernel; a file that may not grow is an error of a write.  The daemon
 * decides when the logger ends, also in a terminal.
 */
static void logger_prepare(void)
{
	static const int ignored[] = {
		SIGCHLD, SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP, SIGQUIT
	};
	struct rlimit files;

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		(void)signal(ignored[i], SIG_IGN);
	tzset();
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
}

int logger_init(struct logger *l, int control, int store)
{
	int r;

	l->control = control;
	l->end_usec = USEC_INFINITY;
	l->timer = -1;
	sinks_init(l);
	list_init(&l->helpers);
	list_init(&l->retries);
	list_init(&l->loud);
	list_init(&l->ticked);
	list_init(&l->views);
	list_init(&l->replies);
	list_init(&l->flushes);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->tick = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (l->epoll < 0 || l->tick < 0)
		return -errno;
	r = area_open(&l->area, store);
	if (r >= 0)
		r = logger_watch(l, l->tick, EPOLLIN, WATCH_TICK, 0);
	return r < 0 ? r : logger_watch(l, control, EPOLLIN, WATCH_CONTROL, 0);
}

bool logger_done(struct logger *l)
{
	struct view *view, *next;
	bool idle;

	list_for_each_safe (view, next, &l->views, in_all)
		view_free(view);
	idle = deliver_done(l);
	control_done(l);
	reply_done(l);
	area_close(&l->area);
	fd_close(l->tick);
	fd_close(l->timer);
	fd_close(l->epoll);
	return idle;
}

int logger_run(int control, int store)
{
	struct logger_message ready = { .type = LOGGER_READY, .stream = LOGGER_ALL };
	cleanup(freep) struct logger *l = calloc(1, sizeof(*l));
	bool idle;
	int r;

	if (!l)
		return -ENOMEM;
	logger_prepare();
	r = logger_init(l, control, store);
	if (r >= 0)
		reply_send(l, &ready, NULL);
	if (r >= 0)
		r = sandbox_enter();
	while (r >= 0 && !l->over && l->now_usec < l->end_usec)
		r = logger_turn(l);
	reply_flush(l);
	idle = logger_done(l);
	/* Helpers have no work left, and end here, so that the daemon does not find them as its children. */
	while (r >= 0 && l->over && idle && waitpid(0, NULL, 0) > 0)
		;
	return r < 0 ? r : 0;
}
