/*
 * A ring of slots with texts of their own: an event is copied when it is added, so nothing is
 * allocated and no string must outlive it.  The number of an event, modulo the size of the ring, is
 * its slot.
 */
#include "daemon/loop/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"

struct slot {
	const char *kind, *from, *to;
	uint64_t realtime_usec;
	unsigned generation;
	unsigned char reason, cause; /* offsets in @text; the path is at its beginning */
	char text[EVENT_TEXT_MAX];
};

struct events {
	uint64_t next;
	char cause[EVENT_CAUSE_MAX];
	struct slot slots[EVENTS_MAX]; /* the slot of a number is its remainder */
};

_Static_assert(EVENT_TEXT_MAX < 256, "places in the text are bytes");

int events_new(struct events **ret)
{
	struct events *events = calloc(1, sizeof(*events));

	if (!events)
		return -ENOMEM;
	*ret = events;
	return 0;
}

struct events *events_free(struct events *events)
{
	free(events);
	return NULL;
}

void events_because(struct events *events, const char *cause)
{
	if (events)
		(void)snprintf(events->cause, sizeof(events->cause), "%s", cause ? cause : "");
}

void events_cause(const struct events *events, char ret[static EVENT_CAUSE_MAX])
{
	(void)snprintf(ret, EVENT_CAUSE_MAX, "%s", events ? events->cause : "");
}

/* Copies @text to offset @at, with a mark if it is cut.  Returns the offset after it. */
static size_t put(struct slot *slot, size_t at, const char *text)
{
	static const char mark[] = "...";
	size_t room = sizeof(slot->text) - at;
	size_t length = strlen(text);

	if (length < room) {
		memcpy(slot->text + at, text, length + 1);
		return at + length + 1;
	}
	(void)snprintf(slot->text + at, room, "%s", text);
	if (room > sizeof(mark))
		memcpy(slot->text + sizeof(slot->text) - sizeof(mark), mark, sizeof(mark));
	return sizeof(slot->text) - 1;
}

void events_add(struct events *events, const struct event *event)
{
	struct slot *slot;

	if (!events)
		return;
	slot = &events->slots[events->next++ % EVENTS_MAX];
	slot->kind = event->kind;
	slot->from = event->from;
	slot->to = event->to;
	slot->generation = event->generation;
	slot->realtime_usec = clock_realtime_usec();
	slot->reason = (unsigned char)put(slot, 0, event->node);
	slot->cause = (unsigned char)put(slot, slot->reason, event->reason);
	(void)put(slot, slot->cause, events->cause);
}

uint64_t events_first(const struct events *events)
{
	return events->next > EVENTS_MAX ? events->next - EVENTS_MAX : 0;
}

uint64_t events_next(const struct events *events)
{
	return events->next;
}

bool events_get(const struct events *events, uint64_t number, struct event *ret)
{
	const struct slot *slot = &events->slots[number % EVENTS_MAX];

	if (number < events_first(events) || number >= events->next)
		return false;
	*ret = (struct event){
		.kind = slot->kind,
		.node = slot->text,
		.generation = slot->generation,
		.from = slot->from,
		.to = slot->to,
		.reason = slot->text + slot->reason,
		.cause = slot->text + slot->cause,
		.number = number,
		.realtime_usec = slot->realtime_usec,
	};
	return true;
}
