#pragma once

/* A watchdog: while it is on, a keep-alive message must come within each interval. */

#include "daemon/loop/context.h"

struct watchdog {
	struct context *ctx;
	struct alarm timer;
	uint64_t interval_usec; /* 0: off */
	uint64_t last_usec;	/* time of the last message */
	bool on;
	void (*expired)(void *arg);
	void *arg;
};

/* Sets up the object.  @expired is called at most once for each watchdog_start(). */
void watchdog_init(struct watchdog *watchdog, struct context *ctx, void (*expired)(void *arg),
		   void *arg);
void watchdog_done(struct watchdog *watchdog);

/* Sets the interval; 0 or USEC_INFINITY: none. */
void watchdog_set(struct watchdog *watchdog, uint64_t interval_usec);

void watchdog_start(struct watchdog *watchdog);
void watchdog_stop(struct watchdog *watchdog);
void watchdog_ping(struct watchdog *watchdog);

/* Returns the time left at @now_usec; USEC_INFINITY if the watchdog is off. */
uint64_t watchdog_left(const struct watchdog *watchdog, uint64_t now_usec);
