#pragma once

/* The processes that the daemon knows by pid, and the guard that each holds on its node. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/list.h"
#include <swansong/guard.h>
#include <swansong/node.h>

struct service;

enum process_kind {
	PROCESS_MAIN,	   /* what a service's command became; part of its struct service */
	PROCESS_LEFTOVER,  /* another process of a service that has become our child */
	PROCESS_HOOK,	   /* one of the commands around it; part of its struct hook */
	PROCESS_PROBE,	   /* a command that looks after one; part of its struct probe */
	PROCESS_STRANGER,  /* adopted, of nobody we know; holds no guard */
	PROCESS_INHERITED, /* our child before we were swansongd; likewise */
	PROCESS_CLOSER,	   /* it closes descriptors; part of its struct closer */
	PROCESS_LOGGER,	   /* it writes files of output; part of its struct logger_child */
};

struct process {
	struct list by_pid;
	struct list by_service; /* a leftover: in its service's list */
	enum process_kind kind;
	unsigned generation;	 /* of the node that it holds */
	struct service *service; /* NULL for a stranger, and for what a group runs */
	pid_t pid;
	pid_t group;
	int pidfd;	/* of one that is not our child, and may be collected any time; else -1 */
	bool alive;	/* its pid still means it: it has not been collected */
	bool signalled; /* has had the stop signal */
	bool killed;	/* a leftover: has had the kill-signal */
	bool blank;	/* a stranger that is looked at again, as in the middle of an exec */
	bool kept;	/* a leftover beside its service: it holds nothing but the root */
	bool claimed;	/* a leftover that only its environment attributes: not trusted */
	uint64_t id;	/* of its guard, for people */
	uint64_t since_usec;
	uint64_t until_usec; /* when it is killed, whatever its node does then; 0: not said */
	struct swansong_guard guard;
	char name[16];
};

struct process_table {
	struct list buckets[1024];
};

void process_table_init(struct process_table *table);

/* Frees the strangers in it; the others must have left. */
void process_table_done(struct process_table *table);

/* Sets up an embedded struct process that is nobody yet. */
void process_init(struct process *process, enum process_kind kind, struct service *service);

/* All strangers in it are to be looked at once more. */
void process_doubt_strangers(struct process_table *table);

/* A process of its own allocation.  Return: 0 or -ENOMEM. */
int process_new(struct process **ret, enum process_kind kind, struct service *service);

/* Gives it a pid and finds it by that from now on.  @pidfd, if any, becomes its own. */
void process_add(struct process_table *table, struct process *process, pid_t pid, int pidfd);

/* For people: the last part of @argv0. */
void process_name(struct process *process, const char *argv0);

/* Drops its guard and forgets its pid; process_free() frees it as well. */
void process_remove(struct process *process);
struct process *process_free(struct process *process);

/* The one that @pid means now: not one that has been collected.  NULL if unknown. */
struct process *process_find(const struct process_table *table, pid_t pid);

/* The leader of the session or process group @number, also if it has been collected; or NULL. */
struct process *process_find_leader(const struct process_table *table, pid_t number);

/* To this very process, or to nobody.  Return: 0, -ESRCH or -errno. */
int process_signal(const struct process *process, int signo);
