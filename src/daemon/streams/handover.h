#pragma once

/*
 * Descriptors that a program inherits, each named by a variable: "NAME=5", or "NAME=5:6" where
 * several that stand next to each other have the same one.  Their numbers come after those of the
 * sockets and the store, and leave out the one that the configuration gives away itself.
 */

#include <stddef.h>

#include "sys/spawn/spec.h"

struct handover {
	const char *variable; /* of HANDOVER_NAME_MAX bytes at most */
	int fd;		      /* borrowed for the call that hands it on */
};

#define HANDOVER_MAX	  6 /* descriptors of one program */
#define HANDOVER_NAME_MAX 32
#define HANDOVER_TEXT_MAX (HANDOVER_NAME_MAX + HANDOVER_MAX * 12)

struct handover_plan {
	struct spawn_file files[HANDOVER_MAX]; /* in the order of their numbers */
	size_t n_files;
	char variables[HANDOVER_MAX][HANDOVER_TEXT_MAX];
	size_t n_variables;
};

/* Numbers the first HANDOVER_MAX of them from @first on, leaving out @taken, which may be -1. */
void handover_plan(struct handover_plan *plan, const struct handover *list, size_t n, int first,
		   int taken);
