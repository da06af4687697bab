/*
 * The environment variable and the option have the same syntax; the option wins.  Services must not
 * inherit the variable, as it is about the daemon's own parent.
 */
#include "daemon/describe/grace.h"

static const char variable[] = "SWANSONG_GRACE";

int grace_parse(const char *text, uint64_t *ret_usec)
{
	uint64_t usec;

	if (parse_duration(text, &usec) < 0 || usec == 0)
		return -EINVAL;
	*ret_usec = usec;
	return 0;
}

int grace_take(uint64_t option_usec, struct log *log, uint64_t *ret)
{
	const char *text = getenv(variable);
	uint64_t usec = USEC_INFINITY;
	int r = text ? grace_parse(text, &usec) : 0;

	if (r < 0)
		log_line(log, LOG_ERR, "%s: invalid value '%s': expected %s", variable, text,
			 GRACE_EXPECTED);
	(void)unsetenv(variable);
	if (r == 0)
		*ret = option_usec ? option_usec : usec;
	return r;
}
