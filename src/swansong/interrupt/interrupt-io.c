/*
 * Every call here is the same loop: look at the interrupt, try without waiting, wait for readiness
 * and the stop together.  The descriptor that the stop makes readable is never read, so the next
 * step finds a stop that comes at any point of the loop.  A thread is cancelled in the wait only, so
 * that a call that has transferred something returns that.
 */
#include <swansong/interrupt-io.h>

#include "swansong/base/cancel-private.h"
#include "swansong/interrupt/channel-private.h"
#include "swansong/interrupt/interrupt-private.h"

/* Time between two attempts where poll(2) shows no readiness. */
#define BLIND_USEC (10 * USEC_PER_MSEC)

/* A call; the state of cancellation is that of its caller, and is off but in waits. */
struct call {
	struct swansong_interrupt *i;
	struct pollfd ready; /* to wait for */
	int cancel;
	void (*undo)(void *arg); /* for a thread that is cancelled */
	void *arg;
	bool blind; /* waits for room in the queue of a Unix socket, which poll(2) does not show */
};

static void interrupt_undo_call(void *arg)
{
	const struct call *call = arg;

	if (call->undo)
		call->undo(call->arg);
}

/* The only cancellation point of all calls: nothing has been transferred. */
static int interrupt_poll_call(struct call *call, struct pollfd *fds, nfds_t n, uint64_t deadline)
{
	int r;

	pthread_cleanup_push(interrupt_undo_call, call);
	cancel_restore(&call->cancel);
	r = deadline_poll(fds, n, deadline);
	(void)cancel_disable();
	pthread_cleanup_pop(0);
	return r;
}

/* Returns -EAGAIN once the descriptor is ready, or the stop has come, for another try; else -errno. */
static int interrupt_await_call(struct call *call)
{
	int stop = interrupt_poll_fd(call->i);
	struct pollfd fds[] = { call->ready, { .fd = stop, .events = POLLIN } };
	uint64_t deadline = interrupt_deadline(call->i);
	uint64_t soon = call->blind ? clock_add(clock_now_usec(), BLIND_USEC) : USEC_INFINITY;
	int r = stop;

	if (stop >= 0)
		r = interrupt_poll_call(call, fds + call->blind, 2u - call->blind,
					MIN(soon, deadline));
	return r < 0 && (r != -ETIMEDOUT || deadline <= soon) ? r : -EAGAIN;
}

static bool interrupt_is_unix(const struct sockaddr *address)
{
	return address && address->sa_family == AF_UNIX;
}

/* Repeats @attempt until it has a result.  Returns that, or @at_stop. */
static ssize_t interrupt_repeat_call(struct call *call, ssize_t (*attempt)(struct call *call),
				     ssize_t at_stop)
{
	ssize_t r = at_stop;

	call->cancel = cancel_disable();
	while (!swansong_interrupted(call->i)) {
		r = attempt(call);
		if (r == -EAGAIN)
			r = interrupt_await_call(call);
		if (r != -EAGAIN && r != -EINTR)
			break;
		r = at_stop;
	}
	cancel_restore(&call->cancel);
	return r;
}

struct transfer {
	struct channel channel;
	const struct iovec *iov;
	int n;
};

static void interrupt_undo_transfer(void *arg)
{
	struct transfer *t = arg;

	channel_done(&t->channel);
}

static ssize_t interrupt_try_transfer(struct call *call)
{
	struct transfer *t = call->arg;
	ssize_t r = channel_try(&t->channel, t->iov, t->n);

	call->ready.fd = t->channel.fd;
	return r;
}

static ssize_t interrupt_transfer(struct swansong_interrupt *i, const struct direction *direction,
				  int fd, const struct iovec *iov, int n)
{
	struct transfer t = { CHANNEL_INITIALIZER(fd, direction), iov, n };
	struct call call = { i, { fd, direction->events, 0 }, 0, interrupt_undo_transfer, &t };
	ssize_t r;

	if (n < 0 || n > IOV_MAX)
		return -EINVAL;
	r = interrupt_repeat_call(&call, interrupt_try_transfer, 0);
	interrupt_undo_transfer(&t);
	return r;
}

ssize_t swansong_interrupt_read(struct swansong_interrupt *i, int fd, void *buffer, size_t size)
{
	struct iovec iov = { .iov_base = buffer, .iov_len = size };

	return interrupt_transfer(i, &channel_reading, fd, &iov, 1);
}

ssize_t swansong_interrupt_readv(struct swansong_interrupt *i, int fd, const struct iovec *iov,
				 int n)
{
	return interrupt_transfer(i, &channel_reading, fd, iov, n);
}

ssize_t swansong_interrupt_write(struct swansong_interrupt *i, int fd, const void *buffer,
				 size_t size)
{
	struct iovec iov = { .iov_base = (void *)buffer, .iov_len = size };

	return interrupt_transfer(i, &channel_writing, fd, &iov, 1);
}

ssize_t swansong_interrupt_writev(struct swansong_interrupt *i, int fd, const struct iovec *iov,
				  int n)
{
	return interrupt_transfer(i, &channel_writing, fd, iov, n);
}

struct acceptance {
	struct sockaddr *address;
	socklen_t *length;
	int flags;
};

static ssize_t interrupt_try_accept(struct call *call)
{
	const struct acceptance *a = call->arg;
	int r = fd_set_nonblock(call->ready.fd);

	if (r < 0)
		return r;
	r = accept4(call->ready.fd, a->address, a->length, a->flags | SOCK_CLOEXEC);
	if (r < 0)
		r = errno == ECONNABORTED ? -EINTR : -errno;
	return r;
}

int swansong_interrupt_accept(struct swansong_interrupt *i, int fd, struct sockaddr *address,
			      socklen_t *length, int flags)
{
	struct acceptance a = { address, length, flags };
	struct call call = { .i = i, .ready = { fd, POLLIN, 0 }, .arg = &a };

	return (int)interrupt_repeat_call(&call, interrupt_try_accept, -ESHUTDOWN);
}

struct connecting {
	const struct sockaddr *address;
	socklen_t length;
	bool begun;
};

static ssize_t interrupt_try_connect(struct call *call)
{
	struct connecting *c = call->arg;
	int fd = call->ready.fd, error = 0;
	int r = c->begun ? 0 : fd_set_nonblock(fd);

	if (r < 0)
		return r;
	if (c->begun)
		r = getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof(error) });
	else
		r = connect(fd, c->address, c->length);
	if (r == 0)
		return -error;
	c->begun = errno == EINPROGRESS || errno == EINTR;
	return c->begun ? -EAGAIN : -errno;
}

int swansong_interrupt_connect(struct swansong_interrupt *i, int fd, const struct sockaddr *address,
			       socklen_t length)
{
	struct connecting c = { address, length, false };
	struct call call = { .i = i, .ready = { fd, POLLOUT, 0 }, .arg = &c };

	call.blind = interrupt_is_unix(address);
	return (int)interrupt_repeat_call(&call, interrupt_try_connect, -ESHUTDOWN);
}

struct message {
	struct msghdr *header;
	int flags;
};

static ssize_t interrupt_try_message(struct call *call)
{
	const struct message *m = call->arg;
	int fd = call->ready.fd, flags = m->flags | MSG_DONTWAIT;
	ssize_t r = call->ready.events == POLLIN ? recvmsg(fd, m->header, flags)
						 : sendmsg(fd, m->header, flags);

	return r < 0 ? -errno : r;
}

ssize_t swansong_interrupt_recvmsg(struct swansong_interrupt *i, int fd, struct msghdr *header,
				   int flags)
{
	struct message m = { header, flags };
	struct call call = { .i = i, .ready = { fd, POLLIN, 0 }, .arg = &m };

	return interrupt_repeat_call(&call, interrupt_try_message, 0);
}

ssize_t swansong_interrupt_sendmsg(struct swansong_interrupt *i, int fd,
				   const struct msghdr *header, int flags)
{
	struct message m = { (struct msghdr *)header, flags };
	struct call call = { .i = i, .ready = { fd, POLLOUT, 0 }, .arg = &m };

	call.blind = interrupt_is_unix(header->msg_name);
	return interrupt_repeat_call(&call, interrupt_try_message, 0);
}

/* Polls @all, which has room for @fds and one more for the stop. */
static int interrupt_poll_all(struct call *call, struct pollfd *all, struct pollfd *fds, nfds_t n,
			      uint64_t deadline)
{
	int stop = interrupt_poll_fd(call->i);
	int r;

	if (stop < 0)
		return stop;
	if (n > 0)
		memcpy(all, fds, n * sizeof(*fds));
	all[n] = (struct pollfd){ .fd = stop, .events = POLLIN };
	r = interrupt_poll_call(call, all, n + 1, deadline);
	if (r < 0)
		return r;
	for (nfds_t k = 0; k < n; k++)
		fds[k].revents = all[k].revents;
	return all[n].revents ? r - 1 : r;
}

int swansong_interrupt_poll(struct swansong_interrupt *i, struct pollfd *fds, nfds_t n,
			    uint64_t deadline)
{
	struct call call = { .i = i, .undo = free };
	struct pollfd few[16];
	int r;

	if (n >= INT_MAX)
		return -EINVAL;
	if (swansong_interrupted(i)) {
		for (nfds_t k = 0; k < n; k++)
			fds[k].revents = 0;
		return 0;
	}
	if (n >= ARRAY_SIZE(few)) {
		call.arg = calloc(n + 1, sizeof(*fds));
		if (!call.arg)
			return -ENOMEM;
	}
	call.cancel = cancel_disable();
	r = interrupt_poll_all(&call, call.arg ? call.arg : few, fds, n, deadline);
	cancel_restore(&call.cancel);
	free(call.arg);
	return r;
}

bool swansong_interrupt_sleep(struct swansong_interrupt *i, uint64_t deadline)
{
	return swansong_interrupt_wait(i, deadline) < 0;
}

bool swansong_interrupt_next(struct swansong_interrupt *i, bool (*next)(void *arg, void *item),
			     void *arg, void *item)
{
	return !swansong_interrupted(i) && next(arg, item);
}
