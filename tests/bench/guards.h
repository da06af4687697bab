#pragma once

/*
 * Measures libswansong beside a bare atomic addition and subtraction.  Each loop is run several times
 * and the fastest counts: other work of the machine only makes a loop slower.
 */

#include <pthread.h>

#include "report.h"
#include <swansong/swansong.h>

#define PAIRS 50000 /* short enough that some loop is not interrupted */
#define CROWD 100000

/* A loop of PAIRS turns on @arg. */
typedef void loop(void *arg);

/* Nanoseconds a turn. */
double take_time(loop *run, void *arg);

/* Two loops by turns, so that both see the same machine; the second is the floor. */
double take_time_beside(loop *run, void *arg, loop *run_floor, void *floor_arg, double *floor);

/* The same for two threads at once: nanoseconds in which each makes a turn. */
double take_time_of_two(loop *run, void *a, void *b);

/* Without these the program ends. */
pthread_t start_thread(void *(*fn)(void *), void *arg);
struct swansong *new_root(void);
struct swansong *new_child(struct swansong *parent);

/* Of a pair of bare operations: @bare, in nanoseconds; there is room for CROWD nodes. */
void report_children(struct report *report, struct swansong **crowd, double bare);
void report_crowd(struct report *report, struct swansong **crowd, double bare);
void report_bytes(struct report *report, struct swansong **crowd);
void report_wakes(struct report *report);
void report_locks(struct report *report);
void report_reads(struct report *report);
