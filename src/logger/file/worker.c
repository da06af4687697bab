/*
 * The helper carries out one job after the other: it appends the portion in shared memory to its
 * file, and replies.  Between jobs it reaps a compression, and starts that of the next path.
 */
#include "logger/file/worker.h"

#include "logger/file/compress.h"
#include "logger/file/files.h"
#include "sys/process/proc.h"

struct worker {
	struct files files;
	struct helper_job *job;
	int socket, fd;
	struct area_slot slot; /* of the stream @mapped */
	uint32_t mapped;
	pid_t compressing;
	int compressing_fd;	 /* its pidfd */
	struct list to_compress; /* struct rotation, each path once */
};

/* A path with a rotated file to be compressed. */
struct rotation {
	struct list in_all;
	uint32_t keep;
	char path[];
};

/* Fails only if the logger has ended. */
static void worker_reply(const struct worker *w, enum worker_message_type type, int result)
{
	const struct worker_message m = { .type = type, .result = result };

	if (send(w->socket, &m, sizeof(m), MSG_NOSIGNAL) < 0)
		_exit(0);
}

/* Starts the compression for the next path; only one runs at a time. */
static void worker_compress(struct worker *w)
{
	struct rotation *rotation;

	if (w->compressing || list_is_empty(&w->to_compress))
		return;
	rotation = list_entry(w->to_compress.next, struct rotation, in_all);
	w->compressing = compress_start(rotation->path, rotation->keep);
	/* Without a process, the next rotation of the path is another attempt. */
	w->compressing = MAX(w->compressing, 0);
	w->compressing_fd = w->compressing ? proc_open(w->compressing) : -1;
	list_remove(&rotation->in_all);
	free(rotation);
}

/* A compression of the path that runs already may have begun before this rotation. */
static void worker_rotated(struct worker *w, const struct helper_job *job)
{
	size_t length = strlen(job->path);
	struct rotation *rotation;

	list_for_each (rotation, &w->to_compress, in_all)
		if (strcmp(rotation->path, job->path) == 0) {
			rotation->keep = job->rules.keep;
			return;
		}
	rotation = malloc(sizeof(*rotation) + length + 1);
	if (!rotation)
		return;
	rotation->keep = job->rules.keep;
	memcpy(rotation->path, job->path, length + 1);
	list_append(&w->to_compress, &rotation->in_all);
	worker_compress(w);
}

/* The ring that was used last stays mapped.  Return: 0 or -errno. */
static int worker_data(struct worker *w, const char **ret)
{
	const struct area *area = w->files.area;
	uint32_t stream = w->job->stream;
	int r = 0;

	*ret = w->job->data;
	if (!w->job->in_ring)
		return 0;
	if (w->mapped != stream)
		area_unmap(&w->slot);
	w->mapped = stream;
	if (!w->slot.ring)
		r = area_map(area, stream, &w->slot);
	if (r == 0)
		*ret = w->slot.ring + area_record(area, stream)->now.position % STORE_RING;
	return r;
}

static void worker_write(struct worker *w)
{
	struct files_job job = {
		.stream = w->job->stream,
		.path = w->job->path,
		.rules = &w->job->rules,
		.size = w->job->size,
		.next = w->job->next,
		.time_usec = clock_realtime_usec(),
	};
	int r = worker_data(w, &job.data);

	if (r < 0)
		;
	else if (w->fd >= 0)
		r = files_put(&w->files, &job, w->fd);
	else if (job.size == 0)
		r = files_try(&w->files, &job);
	else
		r = files_append(&w->files, &job);
	/* After the reply the logger may write the next job. */
	if (r > 0 && w->job->rules.flags & LOGGER_COMPRESS)
		worker_rotated(w, w->job);
	worker_reply(w, WORKER_DONE, r < 0 ? r : 0);
}

static void worker_receive(struct worker *w)
{
	struct worker_message m = { 0 };
	uint32_t wish;
	ssize_t n = recv(w->socket, &m, sizeof(m), 0);

	if (n == 0 || (n < 0 && errno != EINTR))
		_exit(0);
	/* Acquire and release: all that the logger wrote before the wish is visible here. */
	wish = __atomic_exchange_n(&w->job->reopen, 0, __ATOMIC_ACQ_REL);
	if (wish) {
		/* If the path of the stream is not known any more, closes all files. */
		char path[STORE_PATH];
		bool one = wish != WORKER_REOPEN_ALL &&
			   area_path(w->files.area, wish - 1, path) == 0 && *path;

		files_close(&w->files, one ? path : NULL);
	}
	if (n > 0 && m.type == WORKER_WRITE)
		worker_write(w);
}

_Noreturn void worker_run(const struct area *area, struct helper_job *job, int socket,
			  const char *key, int fd)
{
	struct worker w = { .job = job, .socket = socket, .fd = fd, .compressing_fd = -1 };
	const uint32_t writer = text_hash(key);
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = writer, .l_len = 1
	};

	list_init(&w.to_compress);
	(void)signal(SIGCHLD, SIG_DFL);
	/* Pipes of services and the socket of the daemon end with the logger. */
	fd_close_between(STDERR_FILENO + 1, MIN(socket, area->fd) - 1);
	fd_close_between(MIN(socket, area->fd) + 1, MAX(socket, area->fd) - 1);
	fd_close_above(MAX(socket, area->fd));
	/* An earlier helper may still be in a call that hangs: its lock ends with it. */
	while (fcntl(area->fd, F_SETLKW, &lock) < 0 && errno == EINTR)
		;
	files_init(&w.files, area, writer, &job->writes);
	files_recover(&w.files);
	worker_reply(&w, WORKER_READY, 0);
	for (;;) {
		struct pollfd fds[] = { { .fd = socket, .events = POLLIN },
					{ .fd = w.compressing_fd, .events = POLLIN } };

		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			_exit(1);
		/* Without a descriptor its end is seen at the next job. */
		if (w.compressing && waitpid(w.compressing, NULL, WNOHANG) != 0) {
			w.compressing = 0;
			w.compressing_fd = fd_close(w.compressing_fd);
			worker_compress(&w);
		}
		if (fds[0].revents)
			worker_receive(&w);
	}
}
