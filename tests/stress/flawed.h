#pragma once

/*
 * A wrong accounting, which is the obvious first attempt: a guard is added to its node and, if the
 * node was empty, to the parent, and so on up to the first node that was not empty.  A second
 * thread finds the node not empty and returns, while the first is still on its way up: the guard of
 * the second is held, and not counted above.  The tests must be able to see that.
 */

#include <stdbool.h>
#include <stdint.h>

struct flawed {
	_Alignas(64) _Atomic uint64_t count; /* guards here, and children that are not empty */
	_Atomic uint64_t stopped;
	struct flawed *parent;
};

void flawed_take(struct flawed *n);
void flawed_drop(struct flawed *n);
void flawed_stop(struct flawed *n); /* of this node only */
bool flawed_is_complete(struct flawed *n);
