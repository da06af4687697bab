#pragma once

/*
 * The timetable of a service that runs by schedule.
 *
 * When its time comes, the service is started like a requirement of another service: a service
 * that was stopped by hand stays down.  There are never two runs at once; a time that comes while
 * the service runs is left out, and several times that were missed, as the machine slept or the
 * clock was put forward, are one run.  A service that has run is idle again, so that no restart of
 * its group runs it.
 */

#include "daemon/tree/tree.h"

struct timetable;

/* *ret is NULL if @config has no schedule.  Return: 0 or -ENOMEM. */
int timetable_new(struct timetable **ret, struct node *node, const struct node_config *config);
struct timetable *timetable_free(struct timetable *timetable);

/* @timetable, or NULL, replaces that of @node; a schedule that stays the same goes on. */
void timetable_use(struct node *node, struct timetable *timetable);

/* TASK_SCHEDULES: starts the service when its time has come, and notes that its run is over. */
void timetable_process(struct tree *tree, struct node *node);

/* The time left at @now until the next run, and the age of the last one; USEC_INFINITY: none. */
void timetable_view(const struct timetable *timetable, uint64_t now, uint64_t *next, uint64_t *last);
