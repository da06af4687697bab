#pragma once

/* Time between the stop signal and SIGKILL, as set by the parent manager. */

#include "base/log.h"
#include "base/std.h"

/*
 * Takes the grace from SWANSONG_GRACE, which it unsets; @option_usec overrides it unless that is 0.
 * *ret is USEC_INFINITY if neither is set.  Return: 0, or -EINVAL, which has been logged.
 */
int grace_take(uint64_t option_usec, struct log *log, uint64_t *ret);

/* Parses a grace such as "90s"; 0 is invalid.  Return: 0 or -EINVAL. */
int grace_parse(const char *text, uint64_t *ret_usec);

#define GRACE_EXPECTED "a duration, for example 10s, 90s or 5min, or infinity"
