#pragma once

/*
 * How long what has to end is given beyond the configured times: by whoever sees to it, and by whoever
 * says beforehand how long a shutdown may take (model/forecast.h).
 */

#include "base/clock.h"

/* SIGKILL again after this: a process may have been made while the last one was sent. */
#define GRACE_KILL_AGAIN_USEC USEC_PER_SEC
/* What a post-stop or a final has at least, also when a budget is spent: then it comes after a kill. */
#define GRACE_LAST_USEC (2 * USEC_PER_SEC)
/* After its budget the root has been killed; what is left after this much more cannot be killed. */
#define GRACE_ABANDON_USEC (5 * USEC_PER_SEC)
