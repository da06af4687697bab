#pragma once

/*
 * Waiting for signs of life: while it is on, somebody has to say so within each interval.
 *
 * A sign only notes its time; the timer looks when it fires, once in an interval at most.
 */

#include "daemon/context.h"

struct watchdog {
	struct context *ctx;
	sd_event_source *timer; /* NULL until it was needed */
	uint64_t interval_usec; /* 0: nothing is waited for */
	uint64_t last_usec;	/* the last sign */
	bool on;
	void (*expired)(void *arg);
	void *arg;
};

/* @expired is called once for each watchdog_start() at most. */
void watchdog_init(struct watchdog *watchdog, struct context *ctx, void (*expired)(void *arg),
		   void *arg);
void watchdog_done(struct watchdog *watchdog);

/* Has the memory that watchdog_set() to @interval_usec needs.  Return: 0 or -errno. */
int watchdog_reserve(struct watchdog *watchdog, uint64_t interval_usec);

/*
 * From now on this is the interval; 0 or USEC_INFINITY: none.  Return: 0 or -errno, and nothing has
 * changed.
 */
int watchdog_set(struct watchdog *watchdog, uint64_t interval_usec);

void watchdog_start(struct watchdog *watchdog);
void watchdog_stop(struct watchdog *watchdog);

/* A sign of life. */
void watchdog_ping(struct watchdog *watchdog);

/* The time left at @now_usec; USEC_INFINITY if nothing is waited for. */
uint64_t watchdog_left(const struct watchdog *watchdog, uint64_t now_usec);
