#include "logger/loop/state.h"

#include <errno.h>
#include <sys/epoll.h>

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
