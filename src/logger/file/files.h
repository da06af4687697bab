#pragma once

/* The open files of a helper, and the appending to them. */

#include "logger/ring/area.h"
#include "proto/logger-message.h"

struct files {
	const struct area *area;
	uint32_t writer;  /* which helper this is, in records */
	uint64_t *writes; /* counts how often a destination has taken something */
	struct list all;  /* the one that was used last is last */
};

/* A portion of one stream. */
struct files_job {
	uint32_t stream;
	const char *path;
	const struct logger_rules *rules;
	const char *data;
	size_t size;
	struct store_progress next;
	uint64_t time_usec; /* CLOCK_REALTIME */
};

void files_init(struct files *files, const struct area *area, uint32_t writer, uint64_t *writes);

/*
 * Ends what an earlier process of this helper has left in the records: a portion is written, or the
 * file is cut to where it was.
 */
void files_recover(struct files *files);

/*
 * Makes the file if it is missing, and closes it: many services never write.  The size is noted in the record
 * of a stream that has not written yet.  Return: 0 or -errno.
 */
int files_try(struct files *files, const struct files_job *job);

/*
 * Appends the portion, and makes it the stream's progress.  The file is rotated before, if it is time.
 *
 * Return: 1: it was rotated; 0; or -errno, and nothing was written.
 */
int files_append(struct files *files, const struct files_job *job);

/* Appends it to a descriptor that other processes may share. */
int files_put(struct files *files, const struct files_job *job, int fd);

/* Closes the file of @path, or all, with NULL; it is opened again when there is something to write. */
void files_close(struct files *files, const char *path);
