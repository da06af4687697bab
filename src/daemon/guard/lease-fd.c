/*
 * The lease ends with the descriptor: the kernel reports that its other end is closed, and nothing
 * is ever read.  Only kinds of descriptors are accepted for which the kernel does so, which it does
 * not if the daemon itself has the other end.
 */
#include "daemon/guard/lease-fd.h"

#include "daemon/loop/closer.h"

/* An end of a pipe, which is identified by its inode. */
struct pipe_end {
	dev_t device;
	ino_t inode;
	int mode; /* O_RDONLY or O_WRONLY */
};

struct lease_fd {
	struct node *node;
	struct lease *lease; /* NULL: @fd is still the caller's */
	struct list in_context;
	int fd;
	struct pipe_end pipe; /* zero: a socket */
	sd_event_source *end;
};

static struct lease_fd *lease_fd_free(struct lease_fd *l)
{
	if (!l)
		return NULL;
	list_remove(&l->in_context);
	sd_event_source_disable_unref(l->end);
	if (l->lease)
		closer_discard(l->node->ctx, l->node->path, &l->fd, 1);
	lease_free(l->lease);
	return free_memory(l);
}
DEFINE_CLEANUP(struct lease_fd *, lease_fd_free)

/* After a revocation the holder notices that this end is closed. */
static void lease_fd_on_lost(struct lease *lease, enum lease_end how, void *arg)
{
	lease_fd_free(arg);
}

static int lease_fd_on_end(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	lease_fd_free(arg);
	return 0;
}

/*
 * The end of a pipe is not reported if the daemon holds its other end as well, from whichever
 * sender.
 */
static bool lease_fd_is_held(const struct context *ctx, const struct pipe_end *end)
{
	const struct lease_fd *l;

	list_for_each (l, &ctx->guards.descriptors, in_context)
		if (l->pipe.inode == end->inode && l->pipe.device == end->device &&
		    l->pipe.mode != end->mode)
			return true;
	return false;
}

/* The end of datagram sockets and of remote connections may go unreported. */
static bool lease_fd_is_end_of_pair(int fd)
{
	int type = fd_option(fd, SO_TYPE);
	struct ucred peer;

	/* Such a socket, for example the service's own control connection, would never report its end. */
	if (unix_peer(fd, &peer) == 0 && peer.pid == getpid())
		return false;
	return fd_option(fd, SO_DOMAIN) == AF_UNIX && fd_option(fd, SO_ACCEPTCONN) == 0 &&
	       (type == SOCK_STREAM || type == SOCK_SEQPACKET);
}

static bool lease_fd_has_end(const struct context *ctx, int fd, struct pipe_end *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	if (!S_ISFIFO(st.st_mode))
		return S_ISSOCK(st.st_mode) && lease_fd_is_end_of_pair(fd);
	/* A descriptor that is open in both directions keeps its own pipe open. */
	*ret = (struct pipe_end){
		.device = st.st_dev,
		.inode = st.st_ino,
		.mode = fcntl(fd, F_GETFL) & O_ACCMODE,
	};
	return ret->mode != O_RDWR && !lease_fd_is_held(ctx, ret);
}

int lease_fd_new(struct node *node, const struct lease_wish *wish, int fd)
{
	cleanup(lease_fd_freep) struct lease_fd *l = calloc(1, sizeof(*l));
	const struct lease *lease;
	unsigned n = 0;
	int r;

	if (!l)
		return -ENOMEM;
	l->node = node;
	l->fd = fd;
	list_init(&l->in_context);
	if (!lease_fd_has_end(node->ctx, fd, &l->pipe))
		return LEASE_FD_ENDLESS;
	list_for_each (lease, &node->leases, of_node)
		n += lease->lost == lease_fd_on_lost;
	if (n >= LEASE_FDS_MAX)
		return LEASE_FD_FULL;
	r = sd_event_add_io(node->ctx->event, &l->end, fd, EPOLLRDHUP, lease_fd_on_end, l);
	if (r < 0)
		return r == -EPERM ? LEASE_FD_ENDLESS : r;
	r = lease_new(&l->lease, node, wish);
	if (r != 0)
		return r;
	l->lease->lost = lease_fd_on_lost;
	l->lease->arg = l;
	lease_enter(l->lease, ROSTER_LEASE_FD, fd, false);
	list_append(&node->ctx->guards.descriptors, &l->in_context);
	(void)take(l);
	return 0;
}

const char *lease_fd_refusal(int r)
{
	switch (r) {
	case LEASE_STOPPED:
		return "the node is stopped";
	case LEASE_USER_FULL:
		return "limit of 4096 guards for each user";
	case LEASE_FULL:
		return "limit of 16384 guards";
	case LEASE_FD_FULL:
		return "limit of 64 descriptors for each node";
	case LEASE_FD_ENDLESS:
		return "not an end of a pipe or of a pair of UNIX sockets "
		       "of its own";
	default:
		return strerror(-r);
	}
}
