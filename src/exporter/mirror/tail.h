#pragma once

/*
 * The last lines of services, and each line that comes: one stream of the daemon for each service,
 * however many clients there are.  A stream ends when nothing has used it for TAIL_IDLE_USEC.  More
 * lines than TAIL_BURST bytes in TAIL_PAUSE_USEC are left out by the logger.
 */

#include "proto/call.h"

#define TAILS_DEFAULT	16
#define TAIL_LINES	200
#define TAIL_TEXT_MAX	4096 /* bytes of a line; the rest of a longer one is left out */
#define TAIL_BURST	(16 * 1024)
#define TAIL_PAUSE_USEC UINT64_C(100000)
#define TAIL_IDLE_USEC	UINT64_C(30000000)

struct tails_owner {
	sd_event *event;
	const char *socket; /* of the daemon */
	size_t max;	    /* services at once; 0: no logs */
	/* Called when a tail has changed its state. */
	void (*changed)(void *arg);
	/*
	 * Called when a line has come for @node, as in tail_lines() with the member "node"; or {"node",
	 * "error"}: none comes at present.  Borrowed.
	 */
	void (*line)(const char *node, json_t *line, void *arg);
	void *arg;
};

struct tails {
	struct tails_owner owner;
	struct list list;
	size_t n;
};

void tails_init(struct tails *tails, const struct tails_owner *owner);
void tails_done(struct tails *tails); /* also of zeroes */

/* Returns true if there are logs at all. */
bool tails_are_on(const struct tails *tails);

enum tail_state {
	TAIL_BEGINS, /* the last lines have not come yet */
	TAIL_READY,
	TAIL_FAILED,
};

struct tail;

/*
 * Finds the tail of the service, or begins it.
 *
 * Return: 0; -EBUSY: others have as many as are allowed; -ENOMEM.
 */
int tail_get(struct tail **ret, struct tails *tails, const char *node);

enum tail_state tail_state(const struct tail *tail);

/* The reason of TAIL_FAILED; *ret_refused: the daemon does not permit it. */
const char *tail_error(const struct tail *tail, bool *ret_refused);

/* Returns a new array of the last lines, at most @max: {"time", "stream", "text"}. */
json_t *tail_lines(const struct tail *tail, size_t max);

/* Keeps the tail until it is released. */
void tail_hold(struct tail *tail);
void tail_release(struct tails *tails, const char *node);
