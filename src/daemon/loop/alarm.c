/*
 * A pairing heap.  The alarms below an alarm are all later; they are a list by `next`, and the
 * `prev` of the first of them points to the alarm above.  The first alarm is found at once, adding
 * one takes constant time, and a removal takes logarithmic time, amortized.
 */
#include "daemon/loop/alarm.h"

/* The effects of so many alarms are processed before further ones. */
#define ALARMS_PER_TURN 64

static struct alarm *alarm_merge(struct alarm *a, struct alarm *b)
{
	struct alarm *early, *late;

	if (!a || !b)
		return a ? a : b;
	early = b->usec < a->usec ? b : a;
	late = early == a ? b : a;
	late->next = early->child;
	if (late->next)
		late->next->prev = late;
	late->prev = early;
	early->child = late;
	return early;
}

/* Merging in pairs, and the pairs from last to first, keeps the heap shallow. */
static struct alarm *alarm_merge_list(struct alarm *list)
{
	struct alarm *pairs = NULL, *all = NULL;

	while (list) {
		struct alarm *a = list, *b = a->next;

		list = b ? b->next : NULL;
		a = alarm_merge(a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs) {
		struct alarm *pair = pairs;

		pairs = pair->next;
		all = alarm_merge(all, pair);
	}
	if (all)
		all->next = all->prev = NULL;
	return all;
}

static void alarm_take_out(struct alarms *alarms, struct alarm *alarm)
{
	struct alarm *below = alarm_merge_list(alarm->child);

	if (!alarm->prev)
		alarms->first = NULL;
	else if (alarm->prev->child == alarm)
		alarm->prev->child = alarm->next;
	else
		alarm->prev->next = alarm->next;
	if (alarm->next)
		alarm->next->prev = alarm->prev;
	alarms->first = alarm_merge(alarms->first, below);
	alarm->child = alarm->next = alarm->prev = NULL;
	alarm->usec = USEC_INFINITY;
}

/*
 * The source is armed for the first alarm, unless that has expired already; it may be armed for one that was
 * stopped since: most alarms are, and a needless wake-up costs less than a system call for each of them.
 */
static void alarms_update_source(struct alarms *alarms)
{
	uint64_t usec = alarms->first ? alarms->first->usec : USEC_INFINITY;
	int r;

	alarms->due =
		usec != USEC_INFINITY && usec != alarms->source_usec && usec <= clock_now_usec();
	if (alarms->due || usec >= alarms->source_usec)
		return;
	alarms->source_usec = usec;
	r = sd_event_source_set_time(alarms->source, usec);
	if (r >= 0)
		r = sd_event_source_set_enabled(alarms->source, SD_EVENT_ONESHOT);
	if (r < 0)
		log_line(alarms->log, LOG_ERR, "cannot set a timer: %s", strerror(-r));
}

void alarms_run(struct alarms *alarms)
{
	uint64_t now = clock_now_usec();

	for (unsigned i = 0; i < ALARMS_PER_TURN; i++) {
		struct alarm *alarm = alarms->first;

		if (!alarm || alarm->usec > now)
			break;
		alarm_take_out(alarms, alarm);
		if (alarm->fn)
			alarm->fn(alarm);
		else
			agenda_note(alarms->agenda, TASK_EVENTS);
	}
	alarms_update_source(alarms);
}

static int alarms_on_time(sd_event_source *source, uint64_t usec, void *arg)
{
	struct alarms *alarms = arg;

	alarms->source_usec = USEC_INFINITY; /* off, as it has fired */
	alarms->due = true;
	return 0;
}

int alarms_init(struct alarms *alarms, sd_event *event, struct agenda *agenda, struct log *log)
{
	int r;

	*alarms = (struct alarms){ .source_usec = USEC_INFINITY, .agenda = agenda, .log = log };
	r = sd_event_add_time(event, &alarms->source, CLOCK_MONOTONIC, USEC_INFINITY, 1,
			      alarms_on_time, alarms);
	return r < 0 ? r : 0;
}

void alarms_done(struct alarms *alarms)
{
	alarms->source = sd_event_source_disable_unref(alarms->source);
}

void alarm_init(struct alarm *alarm, void (*fn)(struct alarm *alarm))
{
	*alarm = (struct alarm){ .usec = USEC_INFINITY, .fn = fn };
}

void alarm_set(struct alarms *alarms, struct alarm *alarm, uint64_t usec)
{
	if (alarm->usec != USEC_INFINITY)
		alarm_take_out(alarms, alarm);
	if (usec != USEC_INFINITY) {
		alarm->usec = usec;
		alarms->first = alarm_merge(alarms->first, alarm);
	}
	alarms_update_source(alarms);
}
