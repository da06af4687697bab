#pragma once

/*
 * Timers that are members of the objects that they belong to and share one source of the event
 * loop.  Setting one cannot fail.
 */

#include <systemd/sd-event.h>

#include "base/log.h"
#include "daemon/loop/agenda.h"

struct alarm {
	uint64_t usec; /* CLOCK_MONOTONIC; USEC_INFINITY: off */
	void (*fn)(struct alarm *alarm);
	struct alarm *child, *next, *prev; /* of the heap */
};

struct alarms {
	sd_event_source *source;
	uint64_t
		source_usec; /* time of the source, not later than the first alarm; USEC_INFINITY: off */
	bool due;	     /* alarms_run() must run before the loop waits */
	struct alarm *first;
	struct agenda *agenda;
	struct log *log;
};

/* Makes the source in @event, which must outlive @alarms, as must @agenda.  Return: 0 or -errno. */
int alarms_init(struct alarms *alarms, sd_event *event, struct agenda *agenda, struct log *log);
void alarms_done(struct alarms *alarms);

/* Calls the functions of expired alarms, a limited number of them: more may remain. */
void alarms_run(struct alarms *alarms);

/*
 * Makes @alarm, which is off.  @fn is called once for each alarm_set(), when the alarm is off
 * again; NULL: an update turn looks at the owner of the alarm then.
 */
void alarm_init(struct alarm *alarm, void (*fn)(struct alarm *alarm));

/* Sets @alarm to @usec, instead of its former time; USEC_INFINITY: off. */
void alarm_set(struct alarms *alarms, struct alarm *alarm, uint64_t usec);

static inline void alarm_stop(struct alarms *alarms, struct alarm *alarm)
{
	alarm_set(alarms, alarm, USEC_INFINITY);
}
