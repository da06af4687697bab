#pragma once

/*
 * A helper is a process that writes for the logger, as writing may hang.  There is one helper for each
 * file system, and one for each of standard output and standard error, so that a file system that hangs
 * holds up only its own files.  A helper ends with the logger, but may hang even then: the next helper
 * of the same kind waits for its end, by a lock on the store.
 *
 * A helper has one job at a time, in memory that it shares with the logger.  The helper writes the
 * progress of the stream while it has a job of this stream, the logger at all other times.
 */

#include "logger/ring/area.h"
#include "proto/logger-message.h"

struct helper_job; /* shared memory */

struct helper {
	struct list in_all;
	const struct area *area;
	uint32_t number; /* identifies the helper in the logger */
	char *key;	 /* mount point, or "fd:N" */
	int fd;		 /* to write to, or -1: to the files of the jobs */
	int socket;	 /* of the process; -1: there is none */
	struct helper_job *job;
	bool ready; /* the process has recovered the records of its predecessor, and takes jobs */
	bool busy;
	struct list pending; /* streams with lines to be written */
	uint64_t retry_usec; /* CLOCK_MONOTONIC: the next attempt after a failed start */
	void *stream;	     /* the stream of the job */
};

/* Makes the object; the process is started by helper_start().  Return: 0 or -ENOMEM. */
int helper_new(struct helper **ret, const struct area *area, const char *key, int fd);
struct helper *helper_free(struct helper *helper);

/* Starts the process if there is none.  Return: 0 or -errno. */
int helper_start(struct helper *helper);

enum helper_place { HELPER_DATA, HELPER_RING };

/* Returns the buffer for the data of the job, of FORMAT_SIZE bytes. */
char *helper_data(const struct helper *helper);

/*
 * Gives the job to the helper, which is busy until HELPER_DONE.  The data of @place are those of
 * helper_data(), or those of the ring, at the position of the stream.  A job of 0 bytes only makes
 * the file, and keeps the progress of the stream.  Return: 0, or -errno if the helper has ended.
 */
int helper_write(struct helper *helper, uint32_t stream, const struct logger_rules *rules,
		 const char *path, enum helper_place place, size_t size,
		 const struct store_progress *next);

/* Returns a number that grows when a destination of the helper has taken something. */
uint64_t helper_writes(const struct helper *helper);

/*
 * Makes the helper close the file of @stream, or, with LOGGER_ALL, all files, before its next job; it is
 * opened again for its next portion.
 */
void helper_reopen(struct helper *helper, uint32_t stream);

enum helper_event { HELPER_NOTHING, HELPER_READY, HELPER_DONE, HELPER_DEAD };

/*
 * Reads an event when the socket of the helper is readable.  HELPER_READY: it takes jobs from now on.
 * HELPER_DONE: the job is over, *result is 0 or -errno.  HELPER_DEAD: it has ended; the record has the
 * result of its job as soon as the next helper is ready.
 */
enum helper_event helper_receive(struct helper *helper, int *result);
