#pragma once

/*
 * Services with a program or a library that was replaced on disk since their run began (proc_find_replaced()).  A child of
 * the daemon looks for them by request: the kernel may hold it up, as may a file system.
 */

#include "daemon/tree/tree.h"

struct programs {
	struct tree *tree;
	struct closer closer;
	int fd; /* the results of the child */
	uint64_t until_usec;
	unsigned begun, ended; /* numbers of looks */
};

void programs_init(struct programs *programs, struct tree *tree);
void programs_done(struct programs *programs);

/*
 * Returns the number of the look that a request needs: the next one, as the present one may not see what was replaced
 * meanwhile.  Unless it is to be @fresh, one of the last six seconds will do.
 */
unsigned programs_look(const struct programs *programs, bool fresh);

/* Returns true if the look with this number is over; else begins it, unless another one goes on. */
bool programs_are_known(struct programs *programs, unsigned number);
