/*
 * Files are read in child processes (apart.h).  A child writes each line to a memfd as its struct and
 * its text; the source in the struct is an object of the parent.
 */
#include "ctl/logs/older.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "ctl/logs/apart.h"

struct older_file {
	struct log_file file;
	off_t begin, end; /* of its lines in the memfd */
};

static const char *older_path(size_t i, const void *arg)
{
	const struct older *o = arg;

	return o->outputs[i].file ? o->outputs[i].file : "";
}

static int older_run(struct older *o, int (*run)(size_t i, void *arg), int output)
{
	const struct apart apart = {
		.n = o->n,
		.run = run,
		.path = older_path,
		.arg = o,
		.output = output,
		.wait_usec = o->wait_usec,
	};

	return apart_run(&apart, o->results);
}

static int older_look_at(size_t i, void *arg)
{
	struct older *o = arg;

	if (o->outputs[i].file)
		log_file_look(&o->files[i].file, o->outputs[i].file);
	return 0;
}

int older_init(struct older *o, const struct output_view *outputs, size_t n, uint64_t wait_usec)
{
	*o = (struct older){
		.outputs = outputs,
		.n = n,
		.files = apart_allocate(n * sizeof(*o->files)),
		.results = calloc(n + 1, sizeof(*o->results)),
		.pasts = calloc(n + 1, sizeof(*o->pasts)),
		.wait_usec = wait_usec,
	};
	if (!o->files || !o->results || !o->pasts)
		return -ENOMEM;
	return older_run(o, older_look_at, -1);
}

void older_done(struct older *o)
{
	apart_free(o->files, o->n * sizeof(*o->files));
	free(o->results);
	free(o->pasts);
	*o = (struct older){ .n = 0 };
}

static int older_write_lines(const struct log_lines *lines)
{
	FILE *file = fdopen(APART_OUTPUT, "w");

	if (!file)
		return -ENOMEM;
	for (size_t i = 0; i < lines->n; i++) {
		const struct log_line *line = lines->lines[i];

		(void)fwrite(line, sizeof(*line), 1, file);
		(void)fwrite(line->text, 1, line->length, file);
	}
	/* It stays open: the descriptor is for the next file, too. */
	return fflush(file) != 0 || ferror(file) ? -EIO : 0;
}

static int older_read_one(size_t i, void *arg)
{
	struct older *o = arg;
	struct older_file *file = &o->files[i];
	struct log_lines lines = { .n = 0 };
	int r;

	if (!o->pasts[i].source)
		return 0;
	r = log_file_read(&file->file, &o->pasts[i], &lines);
	if (r < 0)
		return r;
	file->begin = lseek(APART_OUTPUT, 0, SEEK_CUR);
	r = older_write_lines(&lines);
	file->end = lseek(APART_OUTPUT, 0, SEEK_CUR);
	log_lines_done(&lines);
	return r;
}

static int older_take_lines(const char *text, const char *end, struct log_lines *ret)
{
	struct log_line line;
	int r = 0;

	for (; r == 0 && text < end; text += line.length) {
		memcpy(&line, text, sizeof(line));
		text += sizeof(line);
		line.text = text;
		r = log_lines_add(ret, &line);
	}
	return r;
}

static int older_take(const struct older *o, int fd, struct log_lines *ret)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text;
	int r = 0;

	if (size <= 0)
		return size < 0 ? -errno : 0;
	text = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return -errno;
	for (size_t i = 0; r == 0 && i < o->n; i++)
		if (o->results[i] == 0)
			r = older_take_lines(text + o->files[i].begin, text + o->files[i].end, ret);
	(void)munmap(text, (size_t)size);
	return r;
}

int older_read(struct older *o, struct log_lines *ret)
{
	cleanup(closep) int fd = memfd_create("older", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : older_run(o, older_read_one, fd);

	return r < 0 ? r : older_take(o, fd, ret);
}
