/*
 * The socket is non-blocking after the connection; every wait is a poll() on it, on the
 * interrupt descriptor and on the output, until the deadline.
 */
#include "proto/client.h"

#include <sys/un.h>

#include "proto/frame.h"

struct client {
	int fd;
	int interrupt_fd; /* the caller's, or -1 */
	int output_fd;	  /* likewise */
	int passed;	  /* the descriptor that came last, or -1 */
	struct frame_reader reader;
	struct frame_writer writer;
};

static int client_open(struct client *client, const char *path, uint64_t deadline_usec)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int msec = clock_left_msec(deadline_usec);
	struct timeval tv = { .tv_sec = msec / 1000, .tv_usec = msec % 1000 * 1000 };

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client->fd < 0)
		return -errno;
	if (msec == 0)
		return -ETIMEDOUT;
	/* connect(2) to a full backlog blocks as send(2) does, and is bounded in the same way. */
	if (msec > 0 && setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) < 0)
		return -errno;
	if (connect(client->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return fd_set_nonblock(client->fd);
}

int client_connect(struct client **ret, const char *path, uint64_t deadline_usec)
{
	cleanup(client_freep) struct client *client = malloc(sizeof(*client));
	int r;

	if (!client)
		return -ENOMEM;
	*client = (struct client){ .fd = -1, .interrupt_fd = -1, .output_fd = -1, .passed = -1 };
	frame_reader_init(&client->reader, CLIENT_MESSAGE_MAX);
	frame_writer_init(&client->writer, MESSAGE_CALL_MAX);
	r = client_open(client, path, deadline_usec);
	if (r < 0)
		return r;
	*ret = take(client);
	return 0;
}

struct client *client_free(struct client *client)
{
	if (!client)
		return NULL;
	fd_close(client->fd);
	fd_close(client->passed);
	frame_reader_done(&client->reader);
	frame_writer_done(&client->writer);
	return free_memory(client);
}

int client_get_fd(const struct client *client)
{
	return client->fd;
}

int client_take_descriptor(struct client *client)
{
	return take_fd(client->passed);
}

void client_set_interrupt(struct client *client, int fd)
{
	client->interrupt_fd = fd;
}

void client_set_output(struct client *client, int fd)
{
	client->output_fd = fd;
}

static int client_poll(struct client *client, short events, uint64_t deadline_usec)
{
	struct pollfd fds[] = {
		{ .fd = client->fd, .events = events },
		{ .fd = client->interrupt_fd, .events = POLLIN },
		{ .fd = client->output_fd }, /* errors only */
	};
	int n;

	n = TEMP_FAILURE_RETRY(poll(fds, ARRAY_SIZE(fds), clock_left_msec(deadline_usec)));
	if (n < 0)
		return -errno;
	if (n == 0)
		return -ETIMEDOUT;
	if (fds[1].revents)
		return -EINTR;
	return fds[2].revents ? -EPIPE : 0;
}

int client_call(struct client *client, const char *method, json_t *parameters, unsigned flags,
		uint64_t deadline_usec)
{
	cleanup(freep) char *text = NULL;
	int r;

	r = message_build_call(&text, method, parameters, flags);
	if (r < 0)
		return r;
	r = frame_writer_add(&client->writer, text);
	if (r < 0)
		return r;
	for (;;) {
		r = frame_writer_send(&client->writer, client->fd);
		/* Replies that were sent before the connection was closed can still be read. */
		if (r == -EPIPE)
			return 0;
		if (r != 0)
			return r < 0 ? r : 0;
		r = client_poll(client, POLLOUT, deadline_usec);
		if (r < 0)
			return r;
	}
}

static ssize_t client_read(struct client *client, char *space, size_t size)
{
	union fd_room room;
	struct iovec iov = { .iov_base = space, .iov_len = size };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &room,
		.msg_controllen = sizeof(room),
	};
	ssize_t n = recvmsg(client->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fd = n < 0 ? -1 : fd_take_passed(&msg);

	if (fd >= 0) {
		(void)fd_close(client->passed);
		client->passed = fd;
	}
	return n;
}

/* Return: 0, -ECONNRESET at the end, -errno. */
static int client_fill(struct client *client)
{
	char *space;
	size_t size;
	ssize_t n;
	int r;

	r = frame_reader_space(&client->reader, &space, &size);
	if (r < 0)
		return r;
	n = TEMP_FAILURE_RETRY(client_read(client, space, size));
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (n == 0)
		return -ECONNRESET;
	frame_reader_commit(&client->reader, (size_t)n);
	return 0;
}

int client_receive(struct client *client, uint64_t deadline_usec, struct message_reply *ret)
{
	const char *text;
	int r;

	while ((r = frame_next(&client->reader, &text, NULL)) == 0) {
		/* The poll comes first, so that an endless stream of replies can be interrupted. */
		r = client_poll(client, POLLIN, deadline_usec);
		if (r == 0)
			r = client_fill(client);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	return message_parse_reply(text, ret);
}
