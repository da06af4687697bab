/*
 * A file is compressed into a temporary name, which is renamed at the end.
 * A compression that is killed leaves the uncompressed file and the temporary one, so no line is
 * lost.
 */
#include "logger/file/compress.h"

#include <sys/resource.h>
#include <zstd.h>

#include "logger/file/rotated.h"

#define LEVEL 3

int compress_write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

/* The last piece, of 0 bytes, ends the frame. */
static int compress_piece(ZSTD_CCtx *context, const char *in, size_t size, char *out, int to)
{
	ZSTD_inBuffer input = { .src = in, .size = size };
	size_t rest;
	int r;

	do {
		ZSTD_outBuffer output = { .dst = out, .size = ZSTD_CStreamOutSize() };

		rest = ZSTD_compressStream2(context, &output, &input,
					    size ? ZSTD_e_continue : ZSTD_e_end);
		r = ZSTD_isError(rest) ? -EIO : compress_write_all(to, out, output.pos);
	} while (r == 0 && (size ? input.pos < size : rest > 0));
	return r;
}

static int compress_copy(int from, int to)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	char *in = malloc(ZSTD_CStreamInSize()), *out = malloc(ZSTD_CStreamOutSize());
	int r = context && in && out ? 0 : -ENOMEM;
	ssize_t n = 1;

	if (context) {
		(void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
		(void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	}
	while (r == 0 && n > 0) {
		n = read(from, in, ZSTD_CStreamInSize());
		r = n < 0 ? -errno : compress_piece(context, in, (size_t)n, out, to);
	}
	if (r == 0 && fsync(to) < 0)
		r = -errno;
	ZSTD_freeCCtx(context);
	free(in);
	free(out);
	return r;
}

/* Compresses @name in the directory of @in to "NAME.zst", and removes it.  Return: 0 or -errno. */
static int compress_file(const struct path *in, const char *name)
{
	char temporary[ROTATED_NAME_MAX + 8], final[ROTATED_NAME_MAX + 8];
	cleanup(closep) int from = path_open_in(in, name, O_RDONLY, 0), to = -1;
	struct stat st;
	int r;

	if (from < 0 || fstat(from, &st) < 0)
		return from < 0 ? from : -errno;
	/* No rotated file has this name, so it is a file that a killed compression left. */
	(void)snprintf(temporary, sizeof(temporary), ".%s.tmp", name);
	(void)snprintf(final, sizeof(final), "%s.zst", name);
	(void)path_unlink_in(in, temporary);
	to = path_open_in(in, temporary, O_WRONLY | O_CREAT | O_EXCL, st.st_mode & 0777);
	if (to < 0)
		return to;
	rotated_give(to, &st);
	r = compress_copy(from, to);
	if (r == 0)
		r = path_rename_in(in, temporary, final, PATH_REPLACE);
	(void)path_unlink_in(in, r < 0 ? temporary : name);
	return r;
}

static void compress_all(const char *path, uint32_t keep)
{
	struct rotated rotated;

	if (rotated_list(&rotated, path) < 0)
		return;
	for (size_t i = 0; i + 1 < rotated.n; i++)
		if (!rotated_is_compressed(rotated.names[i]->d_name)) {
			(void)compress_file(&rotated.path, rotated.names[i]->d_name);
			(void)rotated_prune(path, keep);
		}
	rotated_done(&rotated);
}

pid_t compress_start(const char *path, uint32_t keep)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid < 0 ? -errno : pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	(void)setpriority(PRIO_PROCESS, 0, 19);
	compress_all(path, keep);
	_exit(0);
}
