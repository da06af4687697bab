/*
 * A file is compressed into a temporary name, which is renamed at the end.
 * A compression that is killed leaves the uncompressed file and the temporary one, so no line is
 * lost.
 */
#include "logger/file/compress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "logger/file/rotated.h"

#define LEVEL 3

struct codec {
	ZSTD_CCtx *context;
	char *in, *out;
};

static void compress_codec_done(struct codec *c)
{
	ZSTD_freeCCtx(c->context);
	free(c->in);
	free(c->out);
}

static int compress_codec_init(struct codec *c)
{
	*c = (struct codec){
		.context = ZSTD_createCCtx(),
		.in = malloc(ZSTD_CStreamInSize()),
		.out = malloc(ZSTD_CStreamOutSize()),
	};
	if (!c->context || !c->in || !c->out)
		return -ENOMEM;
	(void)ZSTD_CCtx_setParameter(c->context, ZSTD_c_compressionLevel, LEVEL);
	(void)ZSTD_CCtx_setParameter(c->context, ZSTD_c_checksumFlag, 1);
	return 0;
}

static int compress_write_all(int fd, const char *data, size_t size)
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

/* Compresses the bytes that were read into @to.  The last call ends the frame. */
static int compress_codec_put(struct codec *c, size_t size, ZSTD_EndDirective mode, int to)
{
	ZSTD_inBuffer in = { .src = c->in, .size = size };
	size_t rest;

	do {
		ZSTD_outBuffer out = { .dst = c->out, .size = ZSTD_CStreamOutSize() };
		int r;

		rest = ZSTD_compressStream2(c->context, &out, &in, mode);
		if (ZSTD_isError(rest))
			return -EIO;
		r = compress_write_all(to, c->out, out.pos);
		if (r < 0)
			return r;
	} while (mode == ZSTD_e_end ? rest > 0 : in.pos < in.size);
	return 0;
}

static int compress_codec_copy(struct codec *c, int from, int to)
{
	for (;;) {
		ssize_t n = read(from, c->in, ZSTD_CStreamInSize());
		int r;

		if (n < 0)
			return -errno;
		r = compress_codec_put(c, (size_t)n, n ? ZSTD_e_continue : ZSTD_e_end, to);
		if (r < 0 || n == 0)
			return r;
	}
}

static int compress_copy(int from, int to)
{
	struct codec codec;
	int r = compress_codec_init(&codec);

	if (r == 0)
		r = compress_codec_copy(&codec, from, to);
	compress_codec_done(&codec);
	if (r == 0 && fsync(to) < 0)
		r = -errno;
	return r;
}

int compress_file(const struct path *in, const char *name)
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
		if (!rotated_is_compressed(rotated.names[i])) {
			(void)compress_file(&rotated.path, rotated.names[i]);
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
