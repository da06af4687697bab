#include "sys/child-attributes.h"

static int set_limits(const struct attributes *attributes, int *limit)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		*limit = i;
		if (limit_is_set(&attributes->limits[i]) &&
		    setrlimit((__rlimit_resource_t)i, &attributes->limits[i]) < 0)
			return -1;
	}
	return 0;
}

enum spawn_step child_attributes_before_user(const struct attributes *attributes, int *limit)
{
	/* Last, as they may leave no room for anything else. */
	return set_limits(attributes, limit) < 0 ? SPAWN_STEP_LIMIT : SPAWN_STEP_NONE;
}
