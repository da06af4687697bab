#pragma once

/*
 * How long whoever supervises us waits after the signal before it kills: what --grace says, or else
 * SWANSONG_GRACE in the environment.
 */

#include <stdint.h>

#include "base/log.h"

/*
 * *ret is USEC_INFINITY if nobody says.  @option is 0 without one.  SWANSONG_GRACE is removed from
 * the environment: it is ours, and not for what we start.
 *
 * Return: 0, or -EINVAL if that is no duration, which has been logged.
 */
int grace_take(uint64_t option_usec, struct log *log, uint64_t *ret);

/* What is a grace: "90s", not 0.  Return: 0 or -EINVAL. */
int grace_parse(const char *text, uint64_t *ret_usec);

#define GRACE_ALLOWED "a duration such as 10s, 90s or 5min, or infinity"
