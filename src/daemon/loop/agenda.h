#pragma once

/*
 * The agenda of the next update turn: which tasks are due, and for which members.
 *
 * A callback of the event loop changes its own data and puts what follows on the agenda; nothing is
 * processed inside of it.  Before the loop takes the next event, the update turn (main/update.h)
 * carries out the tasks that are due, in the order of enum task.  A task that becomes due while the
 * turn is past it is carried out in the next turn, which follows at once.
 *
 * Each node has one entry, on one list while any task is due for the node or for its service.  A task
 * looks at all entries: there are those of a turn, and of what waits to be started or stopped.
 */

#include <stdbool.h>

#include "base/list.h"

enum task {
	TASK_EVENTS,	  /* services with posted events: the state machine */
	TASK_GUARDS,	  /* nodes whose guards have changed: the time of an ending */
	TASK_EXITS,	  /* services of which a process has ended, and new children of ours */
	TASK_FAILURES,	  /* services that failed: strategies, on-failed */
	TASK_ENDS,	  /* services whose end may be the end of the tree */
	TASK_DEADLINES,	  /* nodes whose budget is spent */
	TASK_STOPS,	  /* services of a stopped generation: hold, then signal */
	TASK_COMPLETIONS, /* nodes that may be Complete, or of which nothing may be left */
	TASK_RENEWALS,	  /* nodes that are meant to run and are stopped: the next generation */
	TASK_STARTS,	  /* services that are meant to run and do not */
	TASK_REPORT,	  /* the report of a shutdown */
	TASK_REQUESTS,	  /* calls over the control socket that wait */
	TASK_PARENT,	  /* notifications of the parent manager */
	TASK_TRANSIENT,	  /* transient nodes that have ended */
	N_TASKS
};

#define TASK_BIT(task) (1u << (task))
#define ALL_TASKS      (TASK_BIT(N_TASKS) - 1)

/* Due for the service of a node. */
#define SERVICE_TASKS                                                             \
	(TASK_BIT(TASK_EVENTS) | TASK_BIT(TASK_EXITS) | TASK_BIT(TASK_FAILURES) | \
	 TASK_BIT(TASK_ENDS) | TASK_BIT(TASK_STOPS) | TASK_BIT(TASK_STARTS))

/* Of a node: the tasks that are due for it, a bit for each. */
struct agenda_entry {
	struct list in_agenda;
	unsigned tasks;
};

struct agenda {
	struct list entries;
	struct list *at; /* the entry that a task has come to */
	unsigned due;	 /* a bit for each task */
	unsigned later;	 /* due as soon as there is a turn for another reason */
};

static inline void agenda_init(struct agenda *agenda)
{
	*agenda = (struct agenda){ 0 };
	list_init(&agenda->entries);
	agenda->at = &agenda->entries;
}

/* The task is due, for the entries it has. */
static inline void agenda_note(struct agenda *agenda, enum task task)
{
	agenda->due |= TASK_BIT(task);
}

static inline void agenda_add(struct agenda *agenda, enum task task, struct agenda_entry *entry)
{
	if (!entry->tasks)
		list_append(&agenda->entries, &entry->in_agenda);
	entry->tasks |= TASK_BIT(task);
	agenda_note(agenda, task);
}

/* The tasks are no longer due for the entry. */
static inline void agenda_remove(struct agenda *agenda, unsigned tasks, struct agenda_entry *entry)
{
	unsigned before = entry->tasks;

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

/* A task begins with the first entry. */
static inline void agenda_rewind(struct agenda *agenda)
{
	agenda->at = &agenda->entries;
}

/*
 * The next entry for which @task is due, or NULL.  Entries may be added and removed between the
 * calls; a task within a task is not possible.
 */
static inline struct agenda_entry *agenda_next(struct agenda *agenda, enum task task)
{
	while (agenda->at->next != &agenda->entries) {
		struct agenda_entry *entry;

		agenda->at = agenda->at->next;
		entry = list_entry(agenda->at, struct agenda_entry, in_agenda);
		if (agenda_has(entry, task))
			return entry;
	}
	return NULL;
}

/* The task is due in the next turn that comes for another reason: what failed is tried again. */
static inline void agenda_note_later(struct agenda *agenda, enum task task)
{
	agenda->later |= TASK_BIT(task);
}

static inline void agenda_begin_turn(struct agenda *agenda)
{
	agenda->due |= agenda->later;
	agenda->later = 0;
}

/* Returns true if @task is due, and takes note that it is being carried out. */
static inline bool agenda_take(struct agenda *agenda, enum task task)
{
	bool due = agenda->due & TASK_BIT(task);

	agenda->due &= ~(TASK_BIT(task));
	return due;
}

/* Returns true if there is to be a turn. */
static inline bool agenda_is_due(const struct agenda *agenda)
{
	return agenda->due;
}

/* Likewise; the task is done for the entry.  Entries that were added meanwhile come as well. */
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
