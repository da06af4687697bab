/*
 * A table has the form of each type of message: the parts of the struct, the texts and the
 * descriptor.  A received packet is checked against the table before its receiver sees it.
 */
#include "proto/logger-message.h"

#include <ctype.h>

/* The form of each type of message; it has at least @texts texts, and at most LOGGER_TEXTS. */
static const struct logger_shape {
	bool rules, fd;
	uint8_t texts;
} shapes[LOGGER_TYPES] = {
	[LOGGER_ADD] = { .rules = true, .fd = true, .texts = 2 },
	[LOGGER_CHANGE] = { .rules = true, .texts = 2 },
	[LOGGER_VIEW] = { .fd = true },
	[LOGGER_TIMER] = { .fd = true },
	[LOGGER_TROUBLE] = { .texts = 1 },
	[LOGGER_REFUSED] = { .texts = 1 },
};

int logger_send(int fd, struct logger_message *message, const char *first, const char *second,
		int passed)
{
	size_t sizes[LOGGER_TEXTS] = { first ? strlen(first) + 1 : 0,
				       second ? strlen(second) + 1 : 0 };
	struct iovec iov[] = {
		{ .iov_base = message, .iov_len = sizeof(*message) },
		{ .iov_base = (void *)(uintptr_t)first, .iov_len = sizes[0] },
		{ .iov_base = (void *)(uintptr_t)second, .iov_len = sizes[1] },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = ARRAY_SIZE(iov) };
	union fd_room room;

	if (sizes[0] + sizes[1] > LOGGER_MESSAGE_MAX)
		return -EMSGSIZE;
	message->version = LOGGER_VERSION;
	message->size = (uint32_t)(sizeof(*message) + sizes[0] + sizes[1]);
	if (passed >= 0)
		fd_pass(&msg, &room, passed);
	return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static bool logger_packet_take_texts(struct logger_packet *packet, size_t size)
{
	const char *at = packet->text, *end = packet->text + size;
	size_t n = 0;

	while (at < end && n < LOGGER_TEXTS) {
		const char *nul = memchr(at, '\0', (size_t)(end - at));

		if (!nul)
			return false;
		packet->texts[n++] = at;
		at = nul + 1;
	}
	return at == end && n >= shapes[packet->message.type].texts;
}

static bool logger_rules_are_valid(const struct logger_rules *rules)
{
	return rules->to < LOGGER_TOS && rules->format < LOGGER_FORMATS &&
	       rules->stamp < LOGGER_STAMPS && rules->kind < LOGGER_KINDS &&
	       !(rules->flags & ~(uint32_t)LOGGER_FLAGS) && rules->name_width <= 255 &&
	       rules->priority <= 7 && rules->keep <= LOGGER_KEEP_MAX &&
	       rules->memory <= LOGGER_MEMORY_MAX && !(rules->mode & ~0777U) &&
	       rules->has_group <= 1;
}

/* Return: 0, -EPROTO or -EBADMSG. */
static int logger_packet_check(struct logger_packet *packet, size_t size)
{
	const struct logger_message *m = &packet->message;

	if (size < sizeof(*m) || m->size != size)
		return -EBADMSG;
	if (m->version != LOGGER_VERSION)
		return -EPROTO;
	if (m->type < LOGGER_HELLO || m->type >= LOGGER_TYPES)
		return -EBADMSG;
	if (m->stream >= LOGGER_STREAMS && m->stream != LOGGER_ALL)
		return -EBADMSG;
	if (shapes[m->type].fd != (packet->fd >= 0))
		return -EBADMSG;
	if (shapes[m->type].rules && !logger_rules_are_valid(&m->rules))
		return -EBADMSG;
	return logger_packet_take_texts(packet, size - sizeof(*m)) ? 0 : -EBADMSG;
}

int logger_receive(int fd, struct logger_packet *packet)
{
	struct iovec iov[] = {
		{ .iov_base = &packet->message, .iov_len = sizeof(packet->message) },
		{ .iov_base = packet->text, .iov_len = sizeof(packet->text) },
	};
	union fd_room room;
	struct msghdr msg = {
		.msg_iov = iov,
		.msg_iovlen = ARRAY_SIZE(iov),
		.msg_control = &room,
		.msg_controllen = sizeof(room),
	};
	ssize_t n;
	int r;

	memset(&packet->message, 0, sizeof(packet->message));
	memset(packet->texts, 0, sizeof(packet->texts));
	packet->fd = -1;
	n = TEMP_FAILURE_RETRY(recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
	if (n <= 0)
		return n < 0 ? -errno : 0;
	packet->fd = fd_take_passed(&msg);
	if ((msg.msg_flags & MSG_CTRUNC) && packet->fd < 0)
		r = -EMFILE;
	else if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		r = -EBADMSG;
	else
		r = logger_packet_check(packet, (size_t)n);
	if (r < 0)
		packet->fd = fd_close(packet->fd);
	return r < 0 ? r : 1;
}

ssize_t logger_frame_parse(const char *data, size_t size, struct logger_frame *ret,
			   const char **ret_text, size_t *ret_length)
{
	const size_t max = sizeof(*ret) + LOGGER_NAME_MAX + LOGGER_LINE_MAX;

	if (size < sizeof(*ret))
		return 0;
	memcpy(ret, data, sizeof(*ret));
	if (ret->size < sizeof(*ret) + ret->name_length || ret->size > max ||
	    ret->name_length >= LOGGER_NAME_MAX || ret->kind >= LOGGER_KINDS ||
	    ret->stream >= LOGGER_STREAMS)
		return -EBADMSG;
	if (size < ret->size)
		return 0;
	*ret_text = data + sizeof(*ret) + ret->name_length;
	*ret_length = ret->size - sizeof(*ret) - ret->name_length;
	return (ssize_t)ret->size;
}

bool logger_is_rotated(const char *name, const char *base)
{
	size_t length = strlen(base);

	if (strncmp(name, base, length) != 0 || name[length] != '.')
		return false;
	name += length + 1;
	for (const char *p = "dddddddd"
			     "T"
			     "dddddd"
			     "."
			     "dddddd";
	     *p; p++, name++)
		if (*p == 'd' ? !isdigit((unsigned char)*name) : *name != *p)
			return false;
	return !*name || strcmp(name, LOGGER_COMPRESSED) == 0;
}
