#include <errno.h>
#include <string.h>

#include "base/attributes.h"
#include "base/parse.h"
#include "model/values-private.h"

/* A limit's half that ends at @end; @size: with a unit, if it has one. */
static int parse_limit(const char *text, const char *end, bool size, rlim_t *ret)
{
	char number[32];
	uint64_t n;
	int r;

	if ((size_t)(end - text) >= sizeof(number))
		return -EINVAL;
	*(char *)mempcpy(number, text, (size_t)(end - text)) = '\0';
	if (strcmp(number, "infinity") == 0) {
		*ret = RLIM_INFINITY;
		return 0;
	}
	/* The largest number means infinity, which has a name. */
	r = size ? parse_size(number, &n) : parse_uint(number, RLIM_INFINITY - 1, &n);
	if (r < 0 || n == RLIM_INFINITY)
		return -EINVAL;
	*ret = n;
	return 0;
}

static int limit_of(struct value *value, bool size, struct rlimit *field)
{
	const char *colon = strchrnul(value->text, ':');
	struct rlimit limit;

	if (parse_limit(value->text, colon, size, &limit.rlim_cur) < 0)
		return -EINVAL;
	limit.rlim_max = limit.rlim_cur;
	if (*colon && parse_limit(colon + 1, strchr(colon, '\0'), size, &limit.rlim_max) < 0)
		return -EINVAL;
	if (limit.rlim_cur > limit.rlim_max)
		return value_refuse(value, "has a soft limit above the hard one");
	*field = limit;
	return 0;
}

static int value_limit(struct value *value, void *field)
{
	return limit_of(value, false, field);
}

static int value_limit_size(struct value *value, void *field)
{
	return limit_of(value, true, field);
}

/* clang-format off */
const struct value_type type_limit = { IN_ATTRIBUTES, value_limit,
	"N or SOFT:HARD, each a whole number or infinity" };
const struct value_type type_limit_size = { IN_ATTRIBUTES, value_limit_size,
	"N or SOFT:HARD, each a number of bytes such as 512, 64K, 10M, 2G, 1T or infinity" };
/* clang-format on */
