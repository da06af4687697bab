/*
 * Lines are counted backwards from the end of the newest file, and sent from the first one on: a plain file is
 * mapped, a compressed one is decompressed twice, so that it takes no memory.
 */
#include "logger/file/older.h"

#include <zstd.h>

#include "logger/file/compress.h"
#include "logger/file/rotated.h"
#include "sys/rights/rights.h"

/* Standard input of the process. */
#define OUTPUT 0

struct older_file {
	int fd;
	bool compressed;
	uint64_t size;
	const char *text; /* of a plain one */
	uint64_t skip;	  /* bytes, or lines of a compressed one, that are not sent */
};

struct older {
	struct older_file *files; /* the oldest first */
	size_t n;
	struct logger_seam seam;
};

/* --- with all rights --- */

/* Return: 1: it is the file of the seam; 0; or -errno. */
static int older_add(struct older *o, int fd, bool compressed)
{
	struct stat st;
	bool is_seam;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	is_seam = st.st_dev == o->seam.device && st.st_ino == o->seam.inode;
	o->files[o->n++] = (struct older_file){
		.fd = fd,
		.compressed = compressed,
		.size = is_seam ? MIN(o->seam.bytes, (uint64_t)st.st_size) : (uint64_t)st.st_size,
	};
	return is_seam;
}

/* The current file is opened before the others are found: it may be rotated meanwhile. */
static int older_open(struct older *o, const struct older_wish *wish)
{
	const struct store_record *record = wish->record;
	int current = path_open(wish->path, O_RDONLY, 0), r;
	struct rotated rotated;

	if (current < 0 && current != -ENOENT)
		return current;
	r = rotated_list(&rotated, wish->path);
	if (r < 0)
		return r;
	o->files = calloc(rotated.n + 1, sizeof(*o->files));
	if (!o->files)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < rotated.n; i++)
		if (!rotated_is_twice(&rotated, i))
			r = older_add(
				o,
				path_open_in(&rotated.path, rotated.names[i]->d_name, O_RDONLY, 0),
				rotated_is_compressed(rotated.names[i]->d_name));
	if (r != 0)
		return MIN(r, 0);
	r = older_add(o, current, false);
	if (r != 0 || o->seam.position > 0)
		return r == 0 ? -ESTALE : MIN(r, 0);
	/* The whole file is older, unless the stream has written its first portion meanwhile. */
	return !record || (__atomic_load_n(&record->step, __ATOMIC_ACQUIRE) == STORE_IDLE &&
			   record->now.position == 0)
		       ? 0
		       : -EAGAIN;
}

/* --- with few --- */

static int older_keep_rights(void)
{
	static const uint32_t calls[] = {
		SYS_read,   SYS_write,	 SYS_lseek, SYS_brk,	   SYS_mmap,	   SYS_munmap,
		SYS_mremap, SYS_madvise, SYS_futex, SYS_getrandom, SYS_exit_group, SYS_rt_sigreturn,
	};
	static const struct rights rights = {
		.calls = calls, .n_calls = ARRAY_SIZE(calls), .writes = true, /* none is opened */
	};

	return rights_keep(&rights);
}

/* Sends @text without the first *skip lines, and subtracts these from *skip. */
static int older_send(const char *text, size_t size, uint64_t *skip)
{
	const char *end = text + size;

	while (*skip > 0 && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		*skip -= newline ? 1 : 0;
		text = newline ? newline + 1 : end;
	}
	return compress_write_all(OUTPUT, text, (size_t)(end - text));
}

/* Sends a compressed file without the first *skip lines. */
static int older_unpack(int fd, uint64_t *skip)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	size_t in_size = ZSTD_DStreamInSize(), out_size = ZSTD_DStreamOutSize();
	char *in = malloc(in_size), *out = malloc(out_size);
	int r = context && in && out ? 0 : -ENOMEM;
	ssize_t n = lseek(fd, 0, SEEK_SET);

	while (r == 0 && (n = read(fd, in, in_size)) > 0) {
		ZSTD_inBuffer input = { .src = in, .size = (size_t)n };

		while (r == 0 && input.pos < input.size) {
			ZSTD_outBuffer output = { .dst = out, .size = out_size };
			size_t left = ZSTD_decompressStream(context, &output, &input);

			r = ZSTD_isError(left) ? -EBADMSG : older_send(out, output.pos, skip);
		}
	}
	(void)ZSTD_freeDCtx(context);
	free(in);
	free(out);
	return r < 0 || n == 0 ? r : -errno;
}

/* Finds where the last *lines lines begin, and subtracts those that there are. */
static int older_count(struct older_file *f, uint64_t *lines)
{
	uint64_t left = UINT64_MAX, n, at = f->size;
	int r;

	if (f->compressed) {
		r = older_unpack(f->fd, &left);
		n = UINT64_MAX - left;
		f->skip = n - MIN(n, *lines);
		*lines -= n - f->skip;
		return r;
	}
	if (at == 0)
		return 0;
	f->text = mmap(NULL, (size_t)at, PROT_READ, MAP_PRIVATE, f->fd, 0);
	if (f->text == MAP_FAILED)
		return -errno;
	for (; at > 0 && *lines > 0; (*lines)--) {
		const char *newline = memrchr(f->text, '\n', (size_t)at - 1);

		at = newline ? (uint64_t)(newline - f->text) + 1 : 0;
	}
	f->skip = at;
	return 0;
}

static void older_run(const struct older_wish *wish)
{
	struct older o = { .seam = wish->seam };
	int r = wish->seam.position == UINT64_MAX ? -ESTALE : older_open(&o, wish);
	uint64_t lines = wish->lines;
	size_t i = o.n;

	if (r == 0)
		r = older_keep_rights();
	while (r == 0 && i > 0 && lines > 0)
		r = older_count(&o.files[--i], &lines);
	(void)compress_write_all(OUTPUT, (const char *)&(int32_t){ r }, sizeof(int32_t));
	for (; r == 0 && i < o.n; i++) {
		struct older_file *f = &o.files[i];

		r = f->compressed ? older_unpack(f->fd, &f->skip)
				  : compress_write_all(OUTPUT, f->text + f->skip,
						       (size_t)(f->size - f->skip));
	}
}

int older_start(const struct older_wish *wish)
{
	pid_t parent = getpid(), pid;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		(void)setpgid(0, 0);
		(void)dup3(fds[1], OUTPUT, 0);
		fd_close_above(OUTPUT);
		older_run(wish);
		_exit(0);
	}
	r = pid < 0 ? -errno : fd_set_nonblock(fds[0]);
	(void)close(fds[1]);
	if (r < 0)
		(void)close(fds[0]);
	return r < 0 ? r : fds[0];
}
