/*
 * Files stay open, the one that was used last at the end of the list; without a free descriptor
 * the first one is closed.  Before a portion is written, its place in the file is noted in the
 * record of the stream, which outlives this process: a portion that was interrupted is found there
 * by the next helper, and is whole, or is cut off to be written again.
 */
#include "logger/file/files.h"

#include <sys/ioctl.h>

#include "logger/file/rotated.h"

/* Small portions show the logger that a slow disk makes progress, see input_check_stall(). */
#define FILE_PORTION (128 * 1024)
/* The time for a pipe to be emptied before a long line. */
#define EMPTY_LOOKS	100
#define EMPTY_LOOK_MSEC 10

struct file {
	struct list in_all;
	int fd;
	uint64_t device, inode, size;
	uint64_t since_usec; /* CLOCK_REALTIME: its age counts from there */
	uint32_t stream;     /* the stream that has this path in the store */
	char path[];
};

void files_init(struct files *files, const struct area *area, uint32_t writer, uint64_t *writes)
{
	*files = (struct files){ .area = area, .writer = writer, .writes = writes };
	list_init(&files->all);
}

static void file_free(struct file *file)
{
	list_remove(&file->in_all);
	fd_close(file->fd);
	free(file);
}

void files_close(struct files *files, const char *path)
{
	struct file *file, *next;

	list_for_each_safe (file, next, &files->all, in_all)
		if (!path || strcmp(file->path, path) == 0)
			file_free(file);
}

/* --- opening --- */

/* A new file gets mode and owner of @like, the rotated one, unless NULL; a group of the rules has precedence. */
static int files_open_new(const char *path, const struct logger_rules *rules,
			  const struct stat *like)
{
	int fd = path_open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL, rules->mode);

	if (fd >= 0 && like)
		rotated_give(fd, like);
	if (fd >= 0 && rules->has_group && fchown(fd, (uid_t)-1, rules->group) < 0)
		return fd; /* the user of log-user may not be in the group */
	return fd;
}

/* Without room for one more descriptor the file that was not used for longest is closed. */
static int files_open_descriptor(struct files *files, const char *path,
				 const struct logger_rules *rules, const struct stat *like)
{
	for (;;) {
		int fd = path_open(path, O_RDWR | O_APPEND, 0);

		if (fd == -ENOENT)
			fd = files_open_new(path, rules, like);
		if (fd == -EEXIST)
			continue;

		if ((fd != -EMFILE && fd != -ENFILE) || list_is_empty(&files->all))
			return fd;
		file_free(list_entry(files->all.next, struct file, in_all));
	}
}

/* The age of an existing file counts from its birth or, if that is not known, from its last change. */
static uint64_t file_since(int fd)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME | STATX_MTIME, &st) < 0)
		return clock_realtime_usec();
	if (!(st.stx_mask & STATX_BTIME))
		st.stx_btime = st.stx_mtime;
	return (uint64_t)st.stx_btime.tv_sec * USEC_PER_SEC + st.stx_btime.tv_nsec / 1000;
}

static int files_open(struct files *files, const char *path, const struct logger_rules *rules,
		      const struct stat *like, struct file **ret)
{
	size_t length = strlen(path);
	struct file *file = malloc(sizeof(*file) + length + 1);
	struct stat st;

	if (!file)
		return -ENOMEM;
	*file = (struct file){ .stream = UINT32_MAX };
	memcpy(file->path, path, length + 1);
	list_init(&file->in_all);
	file->fd = files_open_descriptor(files, path, rules, like);
	if (file->fd < 0 || fstat(file->fd, &st) < 0) {
		int r = file->fd < 0 ? file->fd : -errno;

		file_free(file);
		return r;
	}
	file->device = st.st_dev;
	file->inode = st.st_ino;
	file->size = (uint64_t)st.st_size;
	file->since_usec = file_since(file->fd);
	list_append(&files->all, &file->in_all);
	*ret = file;
	return 0;
}

static int files_get(struct files *files, const char *path, const struct logger_rules *rules,
		     struct file **ret)
{
	struct file *file;

	list_for_each (file, &files->all, in_all) {
		if (strcmp(file->path, path) != 0)
			continue;
		list_remove(&file->in_all);
		list_append(&files->all, &file->in_all);
		*ret = file;
		return 0;
	}
	return files_open(files, path, rules, NULL, ret);
}

/* --- rotating --- */

static bool file_is_full(const struct file *file, const struct files_job *job)
{
	const struct logger_rules *rules = job->rules;

	if (file->size == 0)
		return false;
	if (rules->size && file->size + job->size > rules->size)
		return true;
	return rules->age_usec && job->time_usec > file->since_usec &&
	       job->time_usec - file->since_usec >= rules->age_usec;
}

/* A file that cannot be renamed is used further.  Return: 1 or -errno; *file is NULL if it is closed. */
static int files_rotate(struct files *files, const struct files_job *job, struct file **file)
{
	int r = rotated_rename(job->path, job->time_usec);
	struct stat st;

	if (r < 0 && r != -ENOENT)
		return r;
	if (fstat((*file)->fd, &st) < 0)
		return -errno;
	file_free(*file);
	*file = NULL;
	(void)rotated_prune(job->path, job->rules->keep);
	r = files_open(files, job->path, job->rules, &st, file);
	return r < 0 ? r : 1;
}

/* --- writing --- */

/* Return: 0 or -errno; @left of the bytes at @data are not written then. */
static int files_write_all(const struct files *files, int fd, const char *data, size_t *left,
			   size_t portion)
{
	while (*left > 0) {
		ssize_t n = write(fd, data, MIN(*left, portion));

		if (n < 0 && errno == EAGAIN) {
			(void)poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
			continue;
		}
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return n < 0 ? -errno : -EIO;
		if (n > 0) {
			data += n;
			*left -= (size_t)n;
			__atomic_add_fetch(files->writes, 1, __ATOMIC_RELAXED);
		}
	}
	return 0;
}

static int files_note(struct files *files, const struct files_job *job, struct file *file)
{
	struct store_record *record = area_record(files->area, job->stream);

	int r = 0;

	if (file->stream != job->stream)
		r = area_set_path(files->area, job->stream, file->path);
	if (r < 0)
		return r;
	file->stream = job->stream;
	record->next = job->next;
	record->writer = files->writer;
	record->foreign = false;
	record->device = file->device;
	record->inode = file->inode;
	record->offset = file->size;
	record->bytes = job->size;
	record->file_bytes = file->size;
	area_set_step(record, STORE_WRITING);
	return 0;
}

int files_try(struct files *files, const struct files_job *job)
{
	struct store_record *record = area_record(files->area, job->stream);
	int fd = files_open_descriptor(files, job->path, job->rules, NULL);
	struct stat st;

	if (fd < 0)
		return fd;
	if (record->now.position == 0 && fstat(fd, &st) == 0) {
		record->file_bytes = (uint64_t)st.st_size;
		record->inode = st.st_ino;
		/* Release: the other members are written before, see stream_note_seam(). */
		__atomic_store_n(&record->device, st.st_dev, __ATOMIC_RELEASE);
	}
	(void)close(fd);
	return 0;
}

int files_append(struct files *files, const struct files_job *job)
{
	struct store_record *record = area_record(files->area, job->stream);
	size_t left = job->size;
	struct file *file;
	struct stat st;
	int rotated = 0, r = files_get(files, job->path, job->rules, &file);

	if (r >= 0 && fstat(file->fd, &st) < 0)
		r = -errno;
	/* It may have been cut by others, as copytruncate of logrotate does. */
	if (r >= 0)
		file->size = (uint64_t)st.st_size;
	if (r >= 0 && file_is_full(file, job)) {
		rotated = files_rotate(files, job, &file);
		r = file ? 0 : rotated;
	}
	if (r >= 0)
		r = files_note(files, job, file);
	if (r < 0)
		return r;
	r = files_write_all(files, file->fd, job->data, &left, FILE_PORTION);
	if (r < 0) {
		/* If even that fails, the next portion follows a part of this one in the file. */
		if (ftruncate(file->fd, (off_t)file->size) < 0)
			r = -errno;
		area_set_step(record, STORE_IDLE);
		return r;
	}
	file->size += job->size;
	record->file_bytes = file->size;
	area_commit(record);
	return rotated > 0;
}

/*
 * A write of more than PIPE_BUF bytes stays in one piece if an empty pipe has room for it.  A reader that does
 * not empty the pipe in time is not waited for.
 */
static void files_await_empty_pipe(int fd, size_t size)
{
	int in_pipe = 0;

	if (fcntl(fd, F_GETPIPE_SZ) < (int)size)
		(void)fcntl(fd, F_SETPIPE_SZ, (int)size);
	for (int i = 0; i < EMPTY_LOOKS; i++) {
		if (ioctl(fd, FIONREAD, &in_pipe) < 0 || in_pipe == 0)
			return;
		(void)poll(NULL, 0, EMPTY_LOOK_MSEC);
	}
}

/* Others may write to a pipe as well: lines up to PIPE_BUF are not mixed with theirs. */
static int files_put_lines(const struct files *files, int fd, const char *data, size_t size)
{
	while (size > 0) {
		const char *end = memrchr(data, '\n', MIN(size, (size_t)PIPE_BUF));
		size_t n, left;
		int r;

		if (!end)
			end = memchr(data, '\n', size);
		n = end ? (size_t)(end - data) + 1 : size;
		if (n > PIPE_BUF)
			files_await_empty_pipe(fd, n);
		left = n;
		r = files_write_all(files, fd, data, &left, n);
		if (r < 0)
			return r;
		data += n;
		size -= n;
	}
	return 0;
}

/* If only a part fits, it is cut off, as the whole portion is tried again; unless others have written since. */
static int files_put_in_file(const struct files *files, const struct files_job *job, int fd,
			     off_t size)
{
	size_t left = job->size;
	int r = files_write_all(files, fd, job->data, &left, SSIZE_MAX);
	struct stat st;

	if (r < 0 && fstat(fd, &st) == 0 && st.st_size == size + (off_t)(job->size - left) &&
	    ftruncate(fd, size) == 0)
		(void)lseek(fd, size, SEEK_SET);
	return r;
}

int files_put(struct files *files, const struct files_job *job, int fd)
{
	struct store_record *record = area_record(files->area, job->stream);
	struct stat st;
	int r;

	record->next = job->next;
	record->writer = files->writer;
	record->foreign = true;
	area_set_step(record, STORE_WRITING);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		r = files_put_in_file(files, job, fd, st.st_size);
	else
		r = files_put_lines(files, fd, job->data, job->size);
	if (r == 0)
		area_commit(record);
	else
		area_set_step(record, STORE_IDLE);
	return r;
}

/* --- recovering --- */

/* The file of the record, by its path or a name that it was rotated to. */
static int files_find(const struct store_record *record, const char *path)
{
	cleanup(closep) int fd = path_open(path, O_RDWR, 0);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == record->device &&
	    st.st_ino == record->inode)
		return take_fd(fd);
	return rotated_find(path, record->device, record->inode);
}

/* Return: 1: the portion was written; 0: the file is as before; -1: there is none, or it cannot be cut. */
static int files_check(const struct store_record *record, const char *path)
{
	cleanup(closep) int fd = files_find(record, path);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if ((uint64_t)st.st_size >= record->offset + record->bytes)
		return 1;
	return (uint64_t)st.st_size > record->offset ? ftruncate(fd, (off_t)record->offset) : 0;
}

void files_recover(struct files *files)
{
	char path[STORE_PATH];

	for (uint32_t i = 0; i < files->area->header->n_used; i++) {
		struct store_record *record = area_record(files->area, i);

		if (record->step == STORE_IDLE || record->writer != files->writer)
			continue;
		if (record->step == STORE_WRITTEN ||
		    (!record->foreign && area_path(files->area, i, path) == 0 &&
		     files_check(record, path) > 0)) {
			record->file_bytes = record->offset + record->bytes;
			area_commit(record);
		} else {
			area_set_step(record, STORE_IDLE);
		}
	}
}
