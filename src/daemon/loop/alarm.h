#pragma once

/*
 * Timers: parts of what they wake, which share one source of the event loop.  Setting cannot
 * fail.
 */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/clock.h"
#include "base/log.h"

struct alarm {
	uint64_t usec; /* CLOCK_MONOTONIC; USEC_INFINITY: it is off */
	void (*fn)(struct alarm *alarm);
	struct alarm *child, *next, *prev; /* of the heap */
};

struct alarms {
	sd_event_source *source;
	uint64_t source_usec; /* when that fires; USEC_INFINITY: never */
	bool due;	      /* alarms_run() is to be called before the loop waits */
	struct alarm *first;
	struct log *log;
};

/* Return: 0 or -errno. */
int alarms_init(struct alarms *alarms, sd_event *event, struct log *log);
void alarms_done(struct alarms *alarms);

/* Calls those that are due, some of them: there may be more. */
void alarms_run(struct alarms *alarms);

/* @fn is called once for each time that the alarm was set; it is off then. */
void alarm_init(struct alarm *alarm, void (*fn)(struct alarm *alarm));

/* For @usec, and not for what it was set for before; USEC_INFINITY: off. */
void alarm_set(struct alarms *alarms, struct alarm *alarm, uint64_t usec);

static inline void alarm_stop(struct alarms *alarms, struct alarm *alarm)
{
	alarm_set(alarms, alarm, USEC_INFINITY);
}
