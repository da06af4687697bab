#include "logger/loop/state.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

/* A turn takes less time than this. */
#define TURN_USEC (1 * USEC_PER_SEC)

static struct epoll_event logger_event_of(uint32_t events, enum watch watch, uint32_t number)
{
	return (struct epoll_event){ .events = events, .data.u64 = (uint64_t)watch << 32 | number };
}

int logger_watch(struct logger *l, int fd, uint32_t events, enum watch watch, uint32_t number)
{
	struct epoll_event event = logger_event_of(events, watch, number);

	return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

void logger_rewatch(struct logger *l, int fd, uint32_t events, enum watch watch, uint32_t number)
{
	struct epoll_event event = logger_event_of(events, watch, number);

	(void)epoll_ctl(l->epoll, EPOLL_CTL_MOD, fd, &event);
}

void logger_unwatch(struct logger *l, int fd)
{
	(void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
}

void logger_set_timer(struct logger *l)
{
	const struct itimerspec turn = { .it_value.tv_sec = TURN_USEC / USEC_PER_SEC };

	if (l->timer < 0 || l->now_usec < l->timer_usec)
		return;
	(void)timerfd_settime(l->timer, 0, &turn, NULL);
	l->timer_usec = l->now_usec + TURN_USEC / 2;
}
