/*
 * Without the loop of events each function waits for the socket until its deadline.  A process that does not
 * answer any more is killed, and left if the kernel keeps it.
 */
#include "daemon/writer/ending.h"

/*
 * Waits for a message, or for @events.
 *
 * Return: the type of a message about all streams; 0; -EPIPE: the socket has ended; or -ETIMEDOUT.
 */
static int ending_await(struct logger_child *c, short events, uint64_t until_usec)
{
	struct pollfd p = { .fd = c->socket, .events = (short)(POLLIN | events) };
	uint64_t now = clock_now_usec();
	struct logger_packet packet;
	int r;

	if (now >= until_usec)
		return -ETIMEDOUT;
	(void)poll(&p, 1, (int)MIN((until_usec - now) / USEC_PER_MSEC + 1, UINT64_C(1000)));
	r = logger_receive(c->socket, &packet);
	packet.fd = fd_close(packet.fd);
	if (r > 0)
		return packet.message.stream == LOGGER_ALL ? (int)packet.message.type : 0;
	return r == -EAGAIN || r == -EBADMSG ? 0 : -EPIPE;
}

int logger_child_begin(struct logger_child *c, uint64_t until_usec)
{
	int r = 0;

	alarm_stop(&c->ctx->alarms, &c->again);
	if (c->ready)
		return 0;
	if (c->process.pid > 0 && c->socket < 0)
		logger_child_collect(c);
	if (c->process.pid == 0 && logger_child_is_usable(c))
		logger_child_start(c);
	alarm_stop(&c->ctx->alarms, &c->again);
	if (c->process.pid == 0 || c->socket < 0)
		return -ENOTSUP;
	while (r >= 0 && r != LOGGER_READY)
		r = ending_await(c, 0, until_usec);
	c->ready = r == LOGGER_READY;
	if (r == -EPIPE)
		logger_child_collect(c);
	return c->ready ? 1 : r == -EPIPE ? -ENOTSUP : r;
}

bool logger_child_await_room(struct logger_child *c, uint64_t until_usec)
{
	return c->socket >= 0 && ending_await(c, POLLOUT, until_usec) >= 0;
}

int logger_child_stop(struct logger_child *c, uint64_t until_usec)
{
	struct logger_message hello = { .type = LOGGER_HELLO, .stream = LOGGER_ALL };
	struct logger_message stop = { .type = LOGGER_STOP, .stream = LOGGER_ALL };
	uint64_t answer_usec = MIN(until_usec, clock_add(clock_now_usec(), LOGGER_ANSWER_USEC));
	bool answered = false;
	int r = 0;

	if (c->socket < 0)
		return 0;
	while (r >= 0 && logger_send(c->socket, &hello, NULL, NULL, -1) == -EAGAIN)
		r = ending_await(c, POLLOUT, answer_usec);
	while (r >= 0 && logger_send(c->socket, &stop, NULL, NULL, -1) == -EAGAIN)
		r = ending_await(c, POLLOUT, answer_usec);
	while (r >= 0 && r != LOGGER_FLUSHED) {
		r = ending_await(c, 0, answered ? until_usec : answer_usec);
		answered |= r > 0;
	}
	if (r == -ETIMEDOUT && !answered) {
		(void)kill(c->process.pid, SIGKILL);
		r = -EPIPE;
	}
	if (r == -EPIPE)
		logger_child_collect(c);
	return r == -EPIPE ? 0 : r;
}

void logger_child_await_end(struct logger_child *c, uint64_t until_usec)
{
	int r = 0;

	while (c->socket >= 0 && r >= 0)
		r = ending_await(c, 0, until_usec);
	if (r == -EPIPE)
		logger_child_collect(c);
}
