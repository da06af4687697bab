/*
 * The logger forks the helper, so that nothing is executed, and talks to it by a socket pair: a
 * packet of the logger names the job in shared memory, a packet of the helper its result.  The
 * socket ends with either of them.
 */
#include "logger/file/helper.h"

#include "logger/file/worker.h"

DEFINE_CLEANUP(struct helper *, helper_free)

int helper_new(struct helper **ret, const struct area *area, const char *key, int fd)
{
	cleanup(helper_freep) struct helper *h = calloc(1, sizeof(*h));
	void *job = MAP_FAILED;

	if (!h)
		return -ENOMEM;
	*h = (struct helper){ .area = area, .fd = fd, .socket = -1 };
	list_init(&h->in_all);
	list_init(&h->pending);
	h->key = strdup(key);
	if (h->key)
		job = mmap(NULL, sizeof(*h->job), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (job == MAP_FAILED)
		return -ENOMEM;
	h->job = job;
	*ret = take(h);
	return 0;
}

static void helper_end(struct helper *h)
{
	/* It ends with its socket, and the kernel reaps it. */
	h->socket = fd_close(h->socket);
	h->ready = h->busy = false;
}

struct helper *helper_free(struct helper *h)
{
	if (!h)
		return NULL;
	list_remove(&h->in_all);
	helper_end(h);
	if (h->job)
		(void)munmap(h->job, sizeof(*h->job));
	free(h->key);
	return free_memory(h);
}

int helper_start(struct helper *h)
{
	pid_t parent = getpid(), pid;
	int fds[2];

	if (h->socket >= 0)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		worker_run(h->area, h->job, fds[1], h->key, h->fd);
	}
	(void)close(fds[1]);
	if (pid < 0) {
		(void)close(fds[0]);
		return -EAGAIN;
	}
	h->socket = fds[0];
	return 0;
}

char *helper_data(const struct helper *h)
{
	return h->job->data;
}

int helper_write(struct helper *h, uint32_t stream, const struct logger_rules *rules,
		 const char *path, enum helper_place place, size_t size,
		 const struct store_progress *next)
{
	const struct worker_message m = { .type = WORKER_WRITE };

	h->job->stream = stream;
	h->job->rules = *rules;
	h->job->in_ring = place == HELPER_RING;
	h->job->size = size;
	h->job->next = *next;
	(void)snprintf(h->job->path, sizeof(h->job->path), "%s", path);
	if (send(h->socket, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	h->busy = true;
	return 0;
}

uint64_t helper_writes(const struct helper *h)
{
	return __atomic_load_n(&h->job->writes, __ATOMIC_RELAXED);
}

void helper_reopen(struct helper *h, uint32_t stream)
{
	const struct worker_message m = { .type = WORKER_REOPEN };
	uint32_t wish = stream == LOGGER_ALL ? WORKER_REOPEN_ALL : stream + 1;
	uint32_t before = __atomic_load_n(&h->job->reopen, __ATOMIC_ACQUIRE);

	if (before && before != wish)
		wish = WORKER_REOPEN_ALL;
	/* Until the helper has seen the wish another message would only fill the socket. */
	if (!__atomic_exchange_n(&h->job->reopen, wish, __ATOMIC_ACQ_REL) && h->socket >= 0)
		(void)send(h->socket, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

enum helper_event helper_receive(struct helper *h, int *result)
{
	struct worker_message m = { 0 };
	ssize_t n = recv(h->socket, &m, sizeof(m), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		helper_end(h);
		return HELPER_DEAD;
	}
	if (n < 0)
		return HELPER_NOTHING;
	if (m.type == WORKER_READY) {
		h->ready = true;
		return HELPER_READY;
	}
	h->busy = false;
	*result = m.result;
	return HELPER_DONE;
}
