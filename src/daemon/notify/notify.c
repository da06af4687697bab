/*
 * A message is peeked at first: its sender is checked before its descriptors are received, and a
 * refused message is dropped without receiving them.  Closing a descriptor of another origin may
 * block, so a child process does it; the socket is not read until a refused message is dropped, and
 * while many descriptors wait.  Floods are limited by messages in a turn and turns in a second.
 */
#include "daemon/notify/notify.h"

#include "daemon/loop/closer.h"
#include "daemon/notify/directory.h"
#include "sys/ipc/passed.h"

/* Messages of one service that are read in a turn. */
#define MESSAGES_PER_TURN 16
/*
 * Messages that a dead process may have left; the kernel keeps about ten.  A flooder with processes
 * that end all the time gets no more than this in a turn, either.
 */
#define MESSAGES_AT_EXIT 1024

/*
 * Limit of the rate: further messages are read a second later.  Until then the sender waits or
 * loses messages.
 */
#define TURNS_PER_SEC 500

struct notify {
	struct context *ctx;
	int fd;
	char *address;
	bool former;	/* the socket was made before a fault, by a former image */
	unsigned place; /* of its row in the roster */
	sd_event_source *source;
	unsigned drained; /* messages since the last turn of the loop */
	struct closer closer;
	struct closer_watch discards;
	bool waits; /* for the closer or for discards; for ever if the closer could not be started */
	struct notify_listener listener;
};

/* Stops reading. */
static void notify_wait(struct notify *notify)
{
	(void)sd_event_source_set_enabled(notify->source, SD_EVENT_OFF);
	notify->waits = true;
}

static void notify_go_on(struct notify *notify)
{
	notify->waits = false;
	(void)sd_event_source_set_enabled(notify->source, SD_EVENT_ON);
}

static void notify_on_dropped(struct closer *closer)
{
	notify_go_on(container_of(closer, struct notify, closer));
}

static void notify_on_discarded(struct closer_watch *watch)
{
	notify_go_on(container_of(watch, struct notify, discards));
}

/* Keeps descriptors in @passed that can be used without blocking; discards the others. */
static void notify_screen_passed(struct notify *notify, struct unix_passed *passed)
{
	const struct notify_listener *listener = &notify->listener;
	struct unix_passed refused = { .n = 0 };
	size_t n = 0;

	for (size_t i = 0; i < passed->n; i++)
		if (passed_is_served_by_kernel(passed->fds[i]))
			passed->fds[n++] = passed->fds[i];
		else
			refused.fds[refused.n++] = passed->fds[i];
	passed->n = n;
	if (refused.n == 0)
		return;
	listener->refused("a descriptor", "not a socket, pipe, anonymous inode or memfd",
			  listener->arg);
	closer_discard(notify->ctx, listener->node, refused.fds, refused.n);
}

/*
 * The descriptors of a message are discarded after it is processed: also the ones that it does not
 * name, and the one of BARRIER=1, for which the close is the reply.
 */
static ssize_t notify_read_message(struct notify *notify, bool accepted)
{
	const struct notify_listener *listener = &notify->listener;
	char text[NOTIFY_MESSAGE_MAX + 1];
	struct notify_message message;
	struct unix_passed passed;
	struct ucred sender;
	ssize_t n;

	n = unix_receive_passed(notify->fd, text, sizeof(text), &sender, &passed);
	notify_screen_passed(notify, &passed);
	if (accepted && n >= 0 && notify_parse(text, (size_t)n, &message) == 0)
		listener->each(&message, &sender, &passed, listener->arg);
	closer_discard(notify->ctx, listener->node, passed.fds, passed.n);
	if (closer_await_discards(notify->ctx, listener->node, &notify->discards))
		notify_wait(notify);
	return n;
}

/* Returns false if there is nothing more to read. */
static bool notify_read_one(struct notify *notify)
{
	struct ucred sender;
	bool accepted;
	ssize_t n;
	int r;

	if (notify->waits)
		return false;
	r = unix_peek(notify->fd, &sender);
	if (r < 0)
		return false;
	accepted = sender.pid > 0 && notify->listener.accepts(&sender, notify->listener.arg);
	if (r > 0 && !accepted) {
		notify_wait(notify);
		(void)closer_drop(&notify->closer, notify->fd);
		return false;
	}
	n = notify_read_message(notify, accepted);
	return n >= 0 || n == -EBADMSG;
}

static int notify_on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct notify *notify = arg;

	notify->drained = 0;
	for (int i = 0; i < MESSAGES_PER_TURN; i++)
		if (!notify_read_one(notify))
			break;
	return 0;
}

static int notify_on_flood_over(sd_event_source *source, void *arg)
{
	const struct notify *notify = arg;

	notify->listener.refused("a flood of messages", "further messages wait for a second",
				 notify->listener.arg);
	return 0;
}

DEFINE_CLEANUP(struct notify *, notify_free)

/* Takes the socket to which a process of before a fault sends its messages. */
static int notify_take_socket(struct notify *notify)
{
	struct roster *roster = notify->ctx->roster;
	const char *name = roster_find_notify(roster, notify->listener.node);
	int fd = name ? roster_take_descriptor(roster, name, NULL) : -ENOENT;

	if (fd < 0)
		return fd;
	notify->fd = fd;
	notify->former = true;
	notify->address = strdup(name);
	return notify->address ? fd : -ENOMEM;
}

static int notify_open_socket(struct notify *notify, uid_t owner)
{
	char name[UNIX_NAME_MAX];

	if (notify->ctx->notify_directory)
		return notify_directory_bind(notify->ctx->notify_directory, owner,
					     notify->listener.every_user ? 0666 : 0600, &notify->address);
	notify->fd = unix_datagram_new(name);
	if (notify->fd < 0)
		return notify->fd;
	notify->address = strdup(name);
	return notify->address ? notify->fd : -ENOMEM;
}

int notify_new(struct notify **ret, struct context *ctx, uid_t owner,
	       const struct notify_listener *listener)
{
	cleanup(notify_freep) struct notify *notify = malloc(sizeof(*notify));
	int r;

	if (!notify)
		return -ENOMEM;
	*notify = (struct notify){ .ctx = ctx, .fd = -1, .listener = *listener };
	closer_init(&notify->closer, ctx, notify_on_dropped);
	list_init(&notify->discards.in_discards);
	notify->discards.fn = notify_on_discarded;
	r = notify_take_socket(notify);
	if (r == -ENOENT)
		r = notify_open_socket(notify, owner);
	if (r < 0)
		return r;
	notify->fd = r;
	roster_enter_descriptor(ctx->roster, &notify->place, notify->fd, 0, notify->address);
	r = sd_event_add_io(notify->ctx->event, &notify->source, notify->fd, EPOLLIN,
			    notify_on_readable, notify);
	if (r >= 0)
		r = sd_event_source_set_ratelimit(notify->source, USEC_PER_SEC, TURNS_PER_SEC);
	if (r >= 0)
		r = sd_event_source_set_ratelimit_expire_callback(notify->source,
								  notify_on_flood_over);
	if (r < 0)
		return r;
	*ret = take(notify);
	return 0;
}

struct notify *notify_free(struct notify *notify)
{
	if (!notify)
		return NULL;
	closer_done(&notify->closer);
	list_remove(&notify->discards.in_discards);
	sd_event_source_disable_unref(notify->source);
	roster_write(notify->ctx->roster, &notify->place, NULL);
	(void)passed_close_now(notify->fd);
	if (notify->address && *notify->address == '/')
		(void)path_unlink(notify->address);
	free(notify->address);
	return free_memory(notify);
}

const char *notify_address(const struct notify *notify)
{
	return notify->address;
}

bool notify_is_former(const struct notify *notify)
{
	return notify->former;
}

void notify_drain(struct notify *notify)
{
	for (; notify->drained < MESSAGES_AT_EXIT; notify->drained++) {
		if (notify_read_one(notify))
			continue;
		notify->drained = 0;
		break;
	}
}
