#pragma once

/*
 * When who is killed at the latest, on a tree without processes: what a service would do is said to it
 * as its processes would.  Nothing waits: a timeout is looked at when it is armed.
 */

#include "base/clock.h"
#include "daemon/lease.h"
#include "main.h"
#include "tree-world.h"

#define SEC USEC_PER_SEC

/* Makes the tree of @text, of which all services run; whoever supervises us waits for @grace. */
void begin(const char *text);
void begin_within(const char *text, uint64_t grace);

/* Whose tests begin one each, which ends by itself. */
TCase *timed_case(const char *name);

/* It runs, with a process. */
void run(struct service *s);

/* The node is stopped, with all below it. */
void stop(const char *path);

/* One turn of daemon.c, as far as a stop goes. */
void turn(void);

/* Its last process is gone; and a turn. */
void end(const char *path);

/* A guard of the node, late or not, and its end; each with a turn. */
struct lease *hold(const char *path);
void release(struct lease *lease);

/* How long it has from now on; a little less than was meant, as time passes. */
uint64_t left(const char *path);
void has_about(const char *path, uint64_t usec);

TCase *busy_tests(void);
