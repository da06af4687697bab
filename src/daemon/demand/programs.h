#pragma once

/*
 * Services with a program or a library that was replaced on disk since their run began (proc_find_replaced()).  A child of
 * the daemon looks for them by request: the kernel may hold it up, as may a file system.
 */

#include "daemon/tree/tree.h"

struct programs {
	struct tree *tree;
	struct closer closer; /* to be ended by closer_done() */
	char *results, *at; /* of the child, in memory that both share; the part that is not taken yet */
	uint64_t until_usec;
	uint64_t begun_usec; /* of the last look; each has another one */
	bool looks;	     /* it goes on */
};

void programs_init(struct programs *programs, struct tree *tree);

/*
 * Returns the time at which the look for a request has to have begun: after the present one, which may not see what was
 * replaced meanwhile.  Unless it is to be @fresh, one of the last six seconds will do.
 */
uint64_t programs_look(const struct programs *programs, bool fresh);

/*
 * Returns true if each service at and below @top was looked at in a look that has begun at @look or later, or if @look is
 * 0; else begins one at these services, unless another one goes on.
 */
bool programs_are_known(struct programs *programs, struct node *top, uint64_t look);
