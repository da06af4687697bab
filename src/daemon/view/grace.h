#pragma once

/* Time between the stop signal and SIGKILL, as set by the parent manager. */

#include <stdint.h>

#include "base/log.h"

/*
 * Unsets SWANSONG_GRACE, which @option_usec overrides unless it is 0.  *ret is USEC_INFINITY if
 * neither is set.  Return: 0, or -EINVAL, which has been logged.
 */
int grace_take(uint64_t option_usec, struct log *log, uint64_t *ret);

/* What is a grace: "90s", not 0.  Return: 0 or -EINVAL. */
int grace_parse(const char *text, uint64_t *ret_usec);

#define GRACE_ALLOWED "a duration such as 10s, 90s or 5min, or infinity"
