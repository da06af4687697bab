#pragma once

/* When a service runs by itself: at intervals, or by a calendar. */

#include "model/types/calendar.h"

struct schedule {
	uint64_t interval_usec; /* from one run to the next; 0: the calendar counts */
	struct calendar calendar;
	char text[]; /* as written */
};
