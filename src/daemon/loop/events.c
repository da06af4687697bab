/*
 * Two rings: slots, and the texts that they refer to.  An event is copied when it is added, so nothing
 * is allocated and no string must outlive it; it is kept until its slot or its text is needed.  The
 * number of an event, modulo the number of slots, is its slot; the texts of an event are in one piece
 * at their position modulo the size of the ring.
 */
#include "daemon/loop/events.h"

/* A start makes three, a stop six. */
#define EVENTS_PER_NODE 8
#define TEXT_PER_EVENT	64

struct slot {
	const char *kind, *from, *to;
	uint64_t realtime_usec;
	uint64_t text; /* position; the path is at its beginning */
	unsigned generation;
	unsigned char reason, cause; /* offsets in the text, */
	unsigned char length;	     /* and its end */
};

struct events {
	uint64_t first, next; /* numbers of those that are kept */
	uint64_t end;	      /* position of the next text */
	char cause[EVENT_CAUSE_MAX];
	size_t n_slots;
	struct slot *slots;
	char *texts; /* TEXT_PER_EVENT for each slot */
};

_Static_assert(EVENT_TEXT_MAX < 256, "places in the text are bytes");

static int events_allocate(struct events *events, size_t n)
{
	events->slots = calloc(n, sizeof(*events->slots));
	events->texts = calloc(n, TEXT_PER_EVENT);
	events->n_slots = n;
	return events->slots && events->texts ? 0 : -ENOMEM;
}

int events_new(struct events **ret)
{
	struct events *events = calloc(1, sizeof(*events));

	if (!events || events_allocate(events, EVENTS_MIN) < 0) {
		events_free(events);
		return -ENOMEM;
	}
	*ret = events;
	return 0;
}

struct events *events_free(struct events *events)
{
	if (!events)
		return NULL;
	free(events->slots);
	free(events->texts);
	return free_memory(events);
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

/* --- adding --- */

static struct slot *events_slot(const struct events *events, uint64_t number)
{
	return &events->slots[number % events->n_slots];
}

static char *events_text(const struct events *events, const struct slot *slot)
{
	return events->texts + slot->text % (events->n_slots * TEXT_PER_EVENT);
}

/* The next event; it replaces the oldest ones. */
static void events_put(struct events *events, const struct slot *event, const char *text)
{
	size_t size = events->n_slots * TEXT_PER_EVENT;
	size_t rest = size - (size_t)(events->end % size);
	struct slot *slot = events_slot(events, events->next++);

	*slot = *event;
	slot->text = events->end + (event->length > rest ? rest : 0);
	events->end = slot->text + event->length;
	memcpy(events_text(events, slot), text, event->length);
	while (events->next - events->first > events->n_slots ||
	       events_slot(events, events->first)->text + size < events->end)
		events->first++;
}

/*
 * Copies @text to offset @at, with a mark if it is cut.  Returns the offset after it; or, without room for
 * another text, that of its end.
 */
static unsigned char events_put_text(char buf[static EVENT_TEXT_MAX], size_t at, const char *text)
{
	static const char mark[] = "...";
	size_t room = EVENT_TEXT_MAX - at;
	size_t length = strlen(text);

	if (length < room) {
		memcpy(buf + at, text, length + 1);
		return (unsigned char)MIN(at + length + 1, (size_t)EVENT_TEXT_MAX - 1);
	}
	(void)snprintf(buf + at, room, "%s", text);
	if (room > sizeof(mark))
		memcpy(buf + EVENT_TEXT_MAX - sizeof(mark), mark, sizeof(mark));
	return EVENT_TEXT_MAX - 1;
}

void events_add(struct events *events, const struct event *event)
{
	char text[EVENT_TEXT_MAX];
	struct slot slot;

	if (!events)
		return;
	slot = (struct slot){
		.kind = event->kind,
		.from = event->from,
		.to = event->to,
		.generation = event->generation,
		.realtime_usec = clock_realtime_usec(),
	};
	slot.reason = events_put_text(text, 0, event->node);
	slot.cause = events_put_text(text, slot.reason, event->reason);
	(void)events_put_text(text, slot.cause, events->cause);
	slot.length = (unsigned char)(slot.cause + strlen(text + slot.cause) + 1);
	events_put(events, &slot, text);
}

void events_reserve(struct events *events, size_t n_nodes)
{
	struct events larger = *events;

	if (n_nodes * EVENTS_PER_NODE <= events->n_slots)
		return;
	if (events_allocate(&larger, MAX(n_nodes * EVENTS_PER_NODE, 2 * events->n_slots)) < 0) {
		free(larger.slots);
		free(larger.texts);
		return;
	}
	larger.next = larger.first;
	larger.end = 0;
	for (uint64_t i = events->first; i < events->next; i++) {
		const struct slot *slot = events_slot(events, i);

		events_put(&larger, slot, events_text(events, slot));
	}
	free(events->slots);
	free(events->texts);
	*events = larger;
}

/* --- reading --- */

uint64_t events_first(const struct events *events)
{
	return events->first;
}

uint64_t events_next(const struct events *events)
{
	return events->next;
}

bool events_get(const struct events *events, uint64_t number, struct event *ret)
{
	const struct slot *slot = events_slot(events, number);
	const char *text = events_text(events, slot);

	if (number < events->first || number >= events->next)
		return false;
	*ret = (struct event){
		.kind = slot->kind,
		.node = text,
		.generation = slot->generation,
		.from = slot->from,
		.to = slot->to,
		.reason = text + slot->reason,
		.cause = text + slot->cause,
		.number = number,
		.realtime_usec = slot->realtime_usec,
	};
	return true;
}
