#pragma once

/* A forecast (model/forecast) as the reply of the method Plan. */

#include <jansson.h>

#include "model/forecast/forecast.h"

/* Times of USEC_INFINITY are omitted.  Returns a new object; NULL: out of memory. */
json_t *plan_build(const struct forecast *forecast, uint64_t grace_usec);
