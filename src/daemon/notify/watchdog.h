#pragma once

/*
 * Waiting for signs of life: while it is on, somebody has to say so within each interval.
 *
 * A sign only notes its time; the timer looks when it fires, once in an interval at most.
 */

#include "daemon/loop/context.h"

struct watchdog {
	struct context *ctx;
	struct alarm timer;
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

/* The interval from now on; 0 or USEC_INFINITY: none. */
void watchdog_set(struct watchdog *watchdog, uint64_t interval_usec);

void watchdog_start(struct watchdog *watchdog);
void watchdog_stop(struct watchdog *watchdog);

/* A sign of life. */
void watchdog_ping(struct watchdog *watchdog);

/* The time left at @now_usec; USEC_INFINITY if nothing is waited for. */
uint64_t watchdog_left(const struct watchdog *watchdog, uint64_t now_usec);
