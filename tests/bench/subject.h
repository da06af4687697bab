#pragma once

/*
 * A supervisor that is measured: swansongd, or the floor.  Its children are tests/bench/child, and
 * write their pids to its standard output, which is a pipe to us: so the birth of each is known at
 * once, without asking the supervisor.
 *
 * Every failure ends the program.  Times are in nanoseconds.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct subject {
	pid_t pid;
	int births;
	size_t n;
	pid_t *children;   /* after subject_await() */
	uint64_t cpu_usec; /* after subject_stop(): of the supervisor and all children, in all */
};

/* Executes @argv, which is to have @n children.  A wrapper must keep the pid. */
void subject_start(struct subject *subject, const char *const *argv, size_t n);

/* Returns when every child runs. */
void subject_await(struct subject *subject);

/* Kills a child, and takes the time until another runs in its place. */
uint64_t subject_restart(struct subject *subject, size_t child);

/* How many of its children begin within @seconds. */
uint64_t subject_count_births(struct subject *subject, unsigned seconds);

/* Takes the time from SIGTERM to the end of the supervisor.  No child must be left. */
uint64_t subject_stop(struct subject *subject);

/* The descriptors that the supervisor has open. */
size_t subject_count_descriptors(const struct subject *subject);

/* A field of a supervisor in /proc: "Pss" of smaps_rollup, "voluntary_ctxt_switches" of status. */
uint64_t subject_read(const struct subject *subject, const char *file, const char *key);
