#pragma once

/*
 * Descriptors that a program inherits.  A variable names each: "NAME=5", or "NAME=5:6" for several
 * neighbours in the list with the same variable.  The numbers follow the ones of the sockets and
 * the store, and leave out the number that the configuration assigns itself.
 */

#include "sys/spawn/spec.h"

struct handover {
	const char *variable; /* its name has at most HANDOVER_NAME_MAX bytes */
	int fd;		      /* borrowed until the program is started */
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

/*
 * Numbers the first HANDOVER_MAX members of @list from @first on, without @taken, which may be -1.
 */
void handover_plan(struct handover_plan *plan, const struct handover *list, size_t n, int first,
		   int taken);
