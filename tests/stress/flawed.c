#include "flawed.h"

#include "swansong/base/atomic-private.h"

void flawed_take(struct flawed *n)
{
	while (n && shared_add(&n->count, 1, acq_rel) == 0)
		n = n->parent;
}

void flawed_drop(struct flawed *n)
{
	while (n && shared_sub(&n->count, 1, acq_rel) == 1)
		n = n->parent;
}

void flawed_stop(struct flawed *n)
{
	(void)shared_or(&n->stopped, 1, acq_rel);
}

bool flawed_is_complete(struct flawed *n)
{
	return shared_load(&n->stopped, acquire) && shared_load(&n->count, acquire) == 0;
}
