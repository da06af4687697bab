#pragma once

/* The processes that the daemon knows by pid, and the guard that each holds on its node. */

#include <systemd/sd-event.h>

#include "sys/spawn/spawn.h"
#include <swansong/guard.h>

enum process_kind {
	PROCESS_MAIN,	   /* the command of a service; member of struct service */
	PROCESS_REMAINING, /* another process of a service, now a child of the daemon */
	PROCESS_HOOK,	   /* a command around a service; member of struct hook */
	PROCESS_PROBE,	   /* a check of a service; member of struct probe */
	PROCESS_UNOWNED,   /* adopted, of no known service; holds no guard */
	PROCESS_INHERITED, /* a child from before the exec of swansongd, or of a closer; no guard */
	PROCESS_CLOSER,	   /* closes descriptors; member of struct closer */
	PROCESS_LOGGER,	   /* swansong-logger; member of struct logger_child */
};

struct process {
	struct list by_pid;
	struct list by_service; /* PROCESS_REMAINING: in the list of its service */
	enum process_kind kind;
	unsigned generation;	 /* of the node on which it has a guard */
	struct service *service; /* NULL if unowned, and for commands of a group */
	pid_t pid;
	pid_t group;
	uid_t last_uid; /* PROCESS_MAIN, dead: its user at its end */
	int pidfd;	/* of a process that is no child of the daemon; else -1 */
	bool alive;	/* not collected: the pid is its own */
	bool killed;	/* PROCESS_REMAINING: was sent the kill-signal */
	bool blank;	/* unowned, to be looked at again: maybe in the middle of an exec */
	bool kept;	/* PROCESS_REMAINING: kept beside its service; its guard is on the root */
	bool claimed;	/* PROCESS_REMAINING: known by its environment only: not trusted */
	struct spawning spawning; /* its program may not run yet; see daemon/spawn/starts.h */
	sd_event_source *gone;	  /* PROCESS_REMAINING: of @pidfd; else NULL */
	uint64_t id;		  /* of its guard, for users; 0: the guard is held for others */
	uint64_t since_usec;
	uint64_t signalled_usec; /* time of its stop signal, from before it was sent; 0: not yet */
	uint64_t until_usec; /* time of its kill, whatever its node does; 0: none */
	struct swansong_guard guard;
	char name[16];
};

struct process_table {
	struct list buckets[1024];
};

void process_table_init(struct process_table *table);

/* Frees the unowned processes in the table; all others must have been removed. */
void process_table_done(struct process_table *table);

/* Sets up a struct process that is a member of another struct; it has no pid yet. */
void process_init(struct process *process, enum process_kind kind, struct service *service);

/* Marks all unowned processes to be looked at once more. */
void process_recheck_unowned(struct process_table *table);

/* Makes a process in memory of its own.  Return: 0 or -ENOMEM. */
int process_new(struct process **ret, enum process_kind kind, struct service *service);

/* Gives @process a pid and enters it in @table.  Takes ownership of @pidfd unless it is -1. */
void process_add(struct process_table *table, struct process *process, pid_t pid, int pidfd);

/* Sets the name that users see: the last part of @argv0. */
void process_name(struct process *process, const char *argv0);

/* Releases the guard of @process and removes it; process_free() frees its memory as well. */
void process_remove(struct process *process);
struct process *process_free(struct process *process);

/* The same, but keeps the guard of an ended process until the caller drops it. */
void process_forget(struct process *process);

/* Returns the process that has @pid and is not collected, or NULL. */
struct process *process_find(const struct process_table *table, pid_t pid);
const struct process *process_find_kind(const struct process_table *table, enum process_kind kind);

/* Returns the leader of session or process group @number, even if it is collected; or NULL. */
struct process *process_find_leader(const struct process_table *table, pid_t number);

/* Signals this very process, never one that has got its pid later.  Return: 0, -ESRCH or -errno. */
int process_signal(const struct process *process, int signo);

/* The same for the session of @process, which is a child of the daemon and leads it. */
void process_signal_session(const struct process *process, int signo);
