#pragma once

/*
 * The agenda of the next update turn: the tasks that are pending, and the nodes that they are
 * pending for.
 *
 * A callback of the event loop changes its own data and puts what follows on the agenda; nothing is
 * processed inside a callback.  Before the loop takes the next event, the update turn
 * (daemon/main/update.h) carries out the tasks that are pending, in the order of enum task.  A task
 * that becomes pending after its place in the turn is carried out in the next turn, which follows
 * at once.
 *
 * Each node has one entry, which is on the list while any task is pending for the node or its
 * service.  A task walks all entries, unless none has it; these are few: those of the turn, and
 * services that wait for their start or stop.
 */

#include "base/std.h"

enum task {
	TASK_EVENTS,	  /* services with posted events: the state machine */
	TASK_GUARDS,	  /* nodes with changed guards: the time of an ending */
	TASK_EXITS,	  /* services with an ended process; new children */
	TASK_SCHEDULES,	  /* services with a due, or an ended, scheduled run */
	TASK_DEMANDS,	  /* services on demand: connections, and ends of idle periods */
	TASK_RECYCLES,	  /* services that may be renewed */
	TASK_PRESSURES,	  /* nodes for which memory is short, or has been */
	TASK_FAILURES,	  /* failed services: strategies, on-failed */
	TASK_ENDS,	  /* ended services with which the tree may end */
	TASK_SUCCESSIONS, /* nodes that hand over */
	TASK_DEADLINES,	  /* nodes with an expired budget */
	TASK_STOPS,	  /* services of a stopped generation: hold, then signal */
	TASK_COMPLETIONS, /* nodes that may be Complete or empty */
	TASK_RENEWALS,	  /* stopped nodes that are to run: next generation */
	TASK_STARTS,	  /* services that are to run and do not */
	TASK_LOGGER,	  /* messages for the logger */
	TASK_REPORT,	  /* report of a shutdown */
	TASK_REQUESTS,	  /* waiting calls over the control socket */
	TASK_PARENT,	  /* notifications of the parent manager */
	TASK_TRANSIENT,	  /* transient nodes that may have ended: after the calls that wait */
	N_TASKS
};

#define TASK_BIT(task) (1u << (task))
#define ALL_TASKS      (TASK_BIT(N_TASKS) - 1)

/* Tasks that are pending for the service of a node, not for the node itself. */
#define SERVICE_TASKS                                                              \
	(TASK_BIT(TASK_EVENTS) | TASK_BIT(TASK_EXITS) | TASK_BIT(TASK_FAILURES) |  \
	 TASK_BIT(TASK_RECYCLES) |                                                  \
	 TASK_BIT(TASK_SCHEDULES) | TASK_BIT(TASK_DEMANDS) | TASK_BIT(TASK_ENDS) | \
	 TASK_BIT(TASK_STOPS) | TASK_BIT(TASK_STARTS))

/* The entry of a node: a bit for each task that is pending. */
struct agenda_entry {
	struct list in_agenda;
	unsigned tasks;
};

struct agenda {
	struct list entries;
	struct list *at;   /* the present entry of the running task */
	unsigned due;	   /* a bit for each task */
	unsigned later;	   /* pending in the next turn that has another reason */
	size_t n[N_TASKS]; /* entries with each task: without one, there is no walk */
};

static inline void agenda_init(struct agenda *agenda)
{
	*agenda = (struct agenda){ 0 };
	list_init(&agenda->entries);
	agenda->at = &agenda->entries;
}

/* Makes @task pending, for the entries that it has. */
static inline void agenda_note(struct agenda *agenda, enum task task)
{
	agenda->due |= TASK_BIT(task);
}

static inline void agenda_add(struct agenda *agenda, enum task task, struct agenda_entry *entry)
{
	if (!entry->tasks)
		list_append(&agenda->entries, &entry->in_agenda);
	if (!(entry->tasks & TASK_BIT(task)))
		agenda->n[task]++;
	entry->tasks |= TASK_BIT(task);
	agenda_note(agenda, task);
}

static inline void agenda_remove(struct agenda *agenda, unsigned tasks, struct agenda_entry *entry)
{
	unsigned before = entry->tasks;

	for (unsigned gone = before & tasks; gone; gone &= gone - 1)
		agenda->n[__builtin_ctz(gone)]--;
	entry->tasks &= ~tasks;
	if (!before || entry->tasks)
		return;
	if (agenda->at == &entry->in_agenda)
		agenda->at = entry->in_agenda.prev;
	list_remove(&entry->in_agenda);
}

static inline bool agenda_has(const struct agenda_entry *entry, enum task task)
{
	return entry->tasks & TASK_BIT(task);
}

static inline void agenda_rewind(struct agenda *agenda)
{
	agenda->at = &agenda->entries;
}

/*
 * Returns the next entry for which @task is pending, or NULL.  Entries may be added and removed
 * between the calls; tasks cannot be nested.
 */
static inline struct agenda_entry *agenda_next(struct agenda *agenda, enum task task)
{
	while (agenda->n[task] > 0 && agenda->at->next != &agenda->entries) {
		struct agenda_entry *entry;

		agenda->at = agenda->at->next;
		entry = list_entry(agenda->at, struct agenda_entry, in_agenda);
		if (agenda_has(entry, task))
			return entry;
	}
	return NULL;
}

/*
 * Makes @task pending in the next turn that comes for another reason: a retry without a busy loop.
 */
static inline void agenda_note_later(struct agenda *agenda, enum task task)
{
	agenda->later |= TASK_BIT(task);
}

static inline void agenda_begin_turn(struct agenda *agenda)
{
	agenda->due |= agenda->later;
	agenda->later = 0;
}

/* Returns true if @task is pending; it is not pending any more then. */
static inline bool agenda_take(struct agenda *agenda, enum task task)
{
	bool due = agenda->due & TASK_BIT(task);

	agenda->due &= ~(TASK_BIT(task));
	return due;
}

static inline bool agenda_is_due(const struct agenda *agenda)
{
	return agenda->due;
}

/*
 * Returns the next entry like agenda_next(), and removes @task from it.  Entries that are added
 * during the walk are returned as well.
 */
static inline struct agenda_entry *agenda_take_entry(struct agenda *agenda, enum task task)
{
	struct agenda_entry *entry = agenda_next(agenda, task);

	if (!entry) {
		agenda_rewind(agenda);
		entry = agenda_next(agenda, task);
	}
	if (entry)
		agenda_remove(agenda, TASK_BIT(task), entry);
	return entry;
}
