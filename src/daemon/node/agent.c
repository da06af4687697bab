/*
 * A reply fits into the buffer of any socket, so that none is waited for.  The kernel holds back
 * connections of HTTP until their request has come: a client may take a reply before its request for a
 * fault.  A flood is accepted at a limited rate; the queue of the socket holds the others.
 */
#include "daemon/node/agent.h"

#include <netinet/tcp.h>

#include "daemon/loop/closer.h"
#include "daemon/streams/listener.h"
#include "sys/ipc/unixsock.h"

#define ACCEPTS_MAX	 64 /* of one call */
#define CALLS_MAX	 10 /* within this time */
#define CALLS_USEC	 (100 * USEC_PER_MSEC)
#define REQUEST_MAX	 4096 /* of a request, which are dropped; a longer request may cut the reply off */
#define REQUEST_WAIT_SEC 5

struct agent {
	struct node *node;
	enum listen_kind kind; /* of its listener */
	struct closer closer;
	struct listener *listener;
	sd_event_source *source; /* of its own descriptor */
};

DEFINE_CLEANUP(struct agent *, agent_free)

#define HTTP(status, word)                                                                        \
	"HTTP/1.0 " status "\r\nContent-Type: text/plain\r\nCache-Control: no-store\r\n\r\n" word \
	"\n"

/* In an agent-check "ready" alone would not end an earlier "down"; "up" does. */
static const struct {
	const char *name, *line, *http;
} words[] = {
	[AGENT_READY] = { "ready", "up ready\n", HTTP("200 OK", "ready") },
	[AGENT_DRAIN] = { "drain", "drain\n", HTTP("503 Service Unavailable", "drain") },
	[AGENT_DOWN] = { "down", "down\n", HTTP("503 Service Unavailable", "down") },
};

enum agent_word agent_word(const struct node *node)
{
	if (node_is_stopped(node))
		return node->complete ? AGENT_DOWN : AGENT_DRAIN;
	if (node_is_ready(node) && node->counts.services > 0)
		return AGENT_READY;
	return node->draining > 0 ? AGENT_DRAIN : AGENT_DOWN;
}

const char *agent_word_name(enum agent_word word)
{
	return words[word].name;
}

static void agent_on_closed(struct closer *closer)
{
	struct agent *a = container_of(closer, struct agent, closer);

	(void)sd_event_source_set_enabled(a->source, SD_EVENT_ON);
}

/*
 * Returns false if a process closes the connection, since descriptors may be queued in it.  Until
 * its end the queue of the socket holds the others: a client makes one such process, not thousands.
 */
static bool agent_close(struct agent *a, int fd)
{
	if (a->kind != LISTEN_UNIX || unix_end_input(fd) || closer_close(&a->closer, &fd, 1) < 0) {
		(void)close(fd);
		return true;
	}
	(void)sd_event_source_set_enabled(a->source, SD_EVENT_OFF);
	return false;
}

/* Returns a connection, with the reserved descriptor if no other is left; or -1. */
static int agent_accept(struct context *ctx, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE) && context_give_up_spare(ctx))
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	return fd;
}

static int agent_on_connection(sd_event_source *source, int listener, uint32_t events, void *arg)
{
	struct agent *a = arg;
	struct context *ctx = a->node->ctx;
	int fd;

	for (unsigned i = 0; i < ACCEPTS_MAX; i++) {
		enum agent_word word;
		const char *reply;
		char request[REQUEST_MAX];

		fd = agent_accept(ctx, listener);
		if (fd < 0)
			break;
		/* A request that was not received would make the kernel reset the connection. */
		word = agent_word(a->node);
		reply = a->kind == LISTEN_HTTP ? words[word].http : words[word].line;
		if (a->kind != LISTEN_UNIX)
			(void)recv(fd, request, sizeof(request), MSG_DONTWAIT);
		(void)send(fd, reply, strlen(reply), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (!agent_close(a, fd))
			break;
	}
	if (ctx->descriptors.spare < 0)
		context_take_spare(ctx);
	return 0;
}

/* During a reload the socket may still be that of the former agent, for another protocol. */
static int agent_on_prepare(sd_event_source *source, void *arg)
{
	const struct agent *a = arg;
	int wait = a->kind == LISTEN_HTTP ? REQUEST_WAIT_SEC : 0;

	/* A socket of unix: has no such option. */
	(void)setsockopt(listener_fd(a->listener), IPPROTO_TCP, TCP_DEFER_ACCEPT, &wait,
			 sizeof(wait));
	return sd_event_source_set_prepare(source, NULL);
}

/* The descriptor is its own, as that of the listener may be watched for the agent before it. */
static int agent_watch(struct agent *a)
{
	int fd = fcntl(listener_fd(a->listener), F_DUPFD_CLOEXEC, 3);
	int r = context_watch_owned(a->node->ctx, &a->source, fd < 0 ? -errno : fd, EPOLLIN,
				    agent_on_connection, a);

	if (r >= 0)
		r = fd_set_nonblock(fd);
	if (r >= 0)
		r = sd_event_source_set_prepare(a->source, agent_on_prepare);
	if (r >= 0)
		r = sd_event_source_set_ratelimit(a->source, CALLS_USEC, CALLS_MAX);
	return r < 0 ? r : 0;
}

int agent_new(struct agent **ret, struct node *node, const struct node_config *config)
{
	cleanup(agent_freep) struct agent *a = NULL;
	const struct listen *listen = node_config_extras(config)->agent;
	int r;

	if (!listen)
		return 0;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->node = node;
	a->kind = listen->kind;
	closer_init(&a->closer, node->ctx, agent_on_closed);
	r = listener_get(&a->listener, node->ctx, config, KEY_AGENT, listen);
	if (r >= 0)
		r = agent_watch(a);
	if (r < 0)
		return r;
	*ret = take(a);
	return 0;
}

struct agent *agent_free(struct agent *a)
{
	if (!a)
		return NULL;
	sd_event_source_disable_unref(a->source);
	closer_done(&a->closer);
	listener_put(a->listener);
	return free_memory(a);
}
