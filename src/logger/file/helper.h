#pragma once

/*
 * A helper: a process that writes for the logger, as writing may hang.  There is one for each file
 * system, and one for each of standard output and standard error; so what hangs there holds up only
 * what goes there.  It ends with the logger; as it may hang even then, the next helper of the same
 * kind waits for its end, by a lock on the store.
 *
 * It has one job at a time, in memory that it shares with the logger.  While it has one the progress
 * of that stream is the helper's; else the logger's.
 */

#include <stdbool.h>

#include "base/list.h"
#include "logger/ring/area.h"
#include "proto/logger.h"

struct helper_job; /* shared memory */

struct helper {
	struct list in_all;
	const struct area *area;
	uint32_t number; /* for the logger */
	char *key;	 /* mount point, or "fd:N" */
	int fd;		 /* to write to, or -1: to the files of the jobs */
	pid_t pid;	 /* 0: none */
	int socket;
	struct helper_job *job;
	bool ready; /* the process has begun: the records are as its predecessor's end left them */
	bool busy;
	struct list pending; /* streams that have something to be written */
	uint64_t retry_usec; /* CLOCK_MONOTONIC: it could not be started; no attempt before */
	void *stream;	     /* of the job */
};

/* Does not start it yet.  Return: 0 or -ENOMEM. */
int helper_new(struct helper **ret, const struct area *area, const char *key, int fd);
struct helper *helper_free(struct helper *helper);

/* The mount point that @path is below, from /proc/self/mountinfo; "/" where that is not known. */
int helper_mount_of(const char *path, char **ret);

/* Starts the process if there is none.  Return: 0 or -errno. */
int helper_start(struct helper *helper);

/* Where the job's data goes: FORMAT_SIZE bytes. */
char *helper_data(const struct helper *helper);

/*
 * Gives it the job; it is busy from now on.  A job of 0 bytes only makes the file, and does not touch
 * the progress of the stream.  Return: 0, or -errno: it has ended.
 */
int helper_write(struct helper *helper, uint32_t stream, const struct logger_rules *rules,
		 const char *path, size_t size, const struct store_progress *next);

/* All files are closed before the next job, and opened again when there is something to write. */
void helper_reopen(struct helper *helper);

enum helper_event { HELPER_NOTHING, HELPER_READY, HELPER_DONE, HELPER_DEAD };

/*
 * When its socket is readable.  HELPER_READY: it takes jobs from now on.  HELPER_DONE: the job is over,
 * *result is 0 or -errno.  HELPER_DEAD: it has ended; what has become of its job the record tells when
 * the next one is ready.
 */
enum helper_event helper_receive(struct helper *helper, int *result);
