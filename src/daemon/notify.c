#include "daemon/notify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

/* A flooder gets this much of a turn; then it is everybody else's. */
#define MESSAGES_PER_TURN 16
/* What a dead process may have left in the queue: the kernel keeps about ten. */
#define MESSAGES_AT_EXIT 1024

struct notify {
	struct context *ctx;
	int fd;
	char address[UNIX_NAME_MAX];
	sd_event_source *source;
	pid_t session;
	void (*each)(const struct notify_message *message, void *arg);
	void *arg;
	char status[NOTIFY_STATUS_MAX];
};

static void parse_line(char *line, struct notify_message *message)
{
	if (strcmp(line, "READY=1") == 0)
		message->ready = true;
	if (strncmp(line, "STATUS=", 7) == 0) {
		message->has_status = true;
		strncpy(message->status, line + 7, sizeof(message->status) - 1);
	}
	/* Whatever else there is, is for others or for later versions. */
}

int notify_parse(const char *text, size_t size, struct notify_message *ret)
{
	struct notify_message message = { 0 };
	char copy[NOTIFY_MESSAGE_MAX + 1];
	char *rest = copy, *line;

	if (size > 0 && text[size - 1] == '\0')
		size--; /* some senders count the terminator */
	if (size == 0 || size > NOTIFY_MESSAGE_MAX || memchr(text, '\0', size))
		return -EBADMSG;
	memcpy(copy, text, size);
	copy[size] = '\0';
	while ((line = strsep(&rest, "\n")))
		parse_line(line, &message);
	*ret = message;
	return 0;
}

/* Returns false when there is nothing more to read. */
static bool read_one(struct notify *notify)
{
	char text[NOTIFY_MESSAGE_MAX + 1];
	struct unix_peer sender = { 0 };
	struct notify_message message;
	ssize_t n;

	n = unix_receive(notify->fd, text, sizeof(text), &sender);
	if (n < 0)
		return n == -EBADMSG;
	if (notify->session == 0 || sender.pid <= 0 || getsid(sender.pid) != notify->session)
		return true;
	if (notify_parse(text, (size_t)n, &message) < 0)
		return true;
	if (message.has_status)
		memcpy(notify->status, message.status, sizeof(notify->status));
	notify->each(&message, notify->arg);
	return true;
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	(void)source;
	(void)fd;
	(void)events;
	for (int i = 0; i < MESSAGES_PER_TURN; i++)
		if (!read_one(arg))
			break;
	return 0;
}

DEFINE_CLEANUP(struct notify *, notify_free)

int notify_new(struct notify **ret, struct context *ctx,
	       void (*each)(const struct notify_message *message, void *arg), void *arg)
{
	cleanup(notify_freep) struct notify *notify = malloc(sizeof(*notify));
	int r;

	if (!notify)
		return -ENOMEM;
	*notify = (struct notify){ .ctx = ctx, .fd = -1, .each = each, .arg = arg };
	notify->fd = unix_datagram_new(notify->address);
	if (notify->fd < 0)
		return notify->fd;
	r = sd_event_add_io(ctx->event, &notify->source, notify->fd, EPOLLIN, on_readable, notify);
	if (r < 0)
		return r;
	*ret = take(notify);
	return 0;
}

struct notify *notify_free(struct notify *notify)
{
	if (!notify)
		return NULL;
	sd_event_source_disable_unref(notify->source);
	(void)fd_close(notify->fd);
	free(notify);
	return NULL;
}

const char *notify_address(const struct notify *notify)
{
	return notify->address;
}

const char *notify_status(const struct notify *notify)
{
	return notify->status;
}

void notify_clear_status(struct notify *notify)
{
	notify->status[0] = '\0';
}

void notify_set_session(struct notify *notify, pid_t session)
{
	notify->session = session;
}

void notify_drain(struct notify *notify)
{
	for (int i = 0; i < MESSAGES_AT_EXIT; i++)
		if (!read_one(notify))
			break;
}
