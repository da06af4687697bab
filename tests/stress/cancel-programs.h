#pragma once

/*
 * The work of the threads that stress-cancel.c cancels.
 */

#include <stdbool.h>

#include <swansong/swansong.h>

#define THREADS 2

enum files { NO_FILES, PIPE, OLD_PIPE, SOCKETS, FULL_SOCKETS, LISTENER };

/* The work of thread @t. */
struct program {
	void (*run)(unsigned int t);
	const char *name;
	bool stops; /* the root */
	enum files files;
	bool waits; /* for a file, until the stop; a cancellation point */
};

enum { ROOT, CHILD, LEVELS };

/* The things of a thread, which its handler drops. */
struct belongings {
	struct swansong_guard guard, early;
	struct swansong *child;
	struct swansong_completion *completion;
	struct swansong_interrupt *interrupt;
	int fds[2];
};

extern struct world {
	bool unobserved; /* the threads hold the nodes, and the world does not */
	const struct program *program[THREADS];
	struct swansong *node[LEVELS];
	struct swansong_completion *completion[LEVELS];
	struct swansong_interrupt *interrupt[LEVELS];
	unsigned int calls[2 * LEVELS];
	struct belongings of[THREADS];
	unsigned int n_fds; /* before all */
} scene;

void must(bool condition, const char *fault);

extern const struct program programs[];
extern const unsigned int n_programs;
