#include "tests/unit/sys/spawn/limits.h"

#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>

#include "base/macro.h"

static const struct {
	int resource;
	rlim_t soft;
} limits[] = {
	{ RLIMIT_AS, (rlim_t)1 << 46 },
	{ RLIMIT_DATA, (rlim_t)1 << 46 },
	{ RLIMIT_STACK, (rlim_t)7 << 20 },
	{ RLIMIT_NOFILE, 200 },
};

static rlim_t limits_part(size_t i, rlim_t hard, unsigned parts)
{
	return MIN(limits[i].soft, hard) / parts;
}

int limits_set(unsigned parts)
{
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct rlimit limit;

		if (getrlimit(limits[i].resource, &limit) < 0)
			return -errno;
		limit.rlim_cur = limits_part(i, limit.rlim_max, parts);
		if (setrlimit(limits[i].resource, &limit) < 0)
			return -errno;
	}
	return 0;
}

bool limits_are(unsigned parts)
{
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct rlimit limit;

		if (getrlimit(limits[i].resource, &limit) < 0 ||
		    limit.rlim_cur != limits_part(i, limit.rlim_max, parts))
			return false;
	}
	return true;
}
