#pragma once

/*
 * The program of the daemon is replaced by the one that is at its path now, in the same process: services,
 * guards and connections go on, as after a fault (sys/spawn/crash.h).
 *
 * First the new program rehearses it in a child process: it reads the roster and the configuration, prints its
 * version, and ends.  Then no service may be starting, and no command around one may run; a stop
 * that has sent its signal goes on.
 */

#include "daemon/tree/tree.h"

#define UPGRADE_TIMEOUT_USEC (10 * USEC_PER_SEC) /* limit of the rehearsal, and of the wait for services after it */
#define UPGRADE_TEXT_MAX     256

struct roster;

enum upgrade_state {
	UPGRADE_NONE,
	UPGRADE_REHEARSAL,
	UPGRADE_REFUSED,   /* the reason is in @text */
	UPGRADE_REHEARSED, /* the version of the new program is in @text */
	UPGRADE_DONE,	   /* this is the new program */
};

struct upgrade {
	struct closer closer;
	struct alarm alarm; /* when the state times out */
	struct tree *tree;
	enum upgrade_state state;
	int program, output;		  /* of the rehearsal; or -1 */
	char from[CRASH_VERSION_MAX + 1]; /* UPGRADE_DONE: the version before */
	char text[UPGRADE_TEXT_MAX];
};

/* @former: the reason of this image, which may be an upgrade. */
void upgrade_init(struct upgrade *upgrade, struct tree *tree, const struct crash_history *former);
void upgrade_done(struct upgrade *upgrade);

/* Called by a program that has taken over, after its first turn: it works. */
void upgrade_settle(struct upgrade *upgrade);

/* Begins a rehearsal, unless one goes on; then the state is UPGRADE_REHEARSAL or UPGRADE_REFUSED. */
void upgrade_begin(struct upgrade *upgrade);

/*
 * After the rehearsal: replaces the program, and does not return, as soon as the services allow it.  Otherwise the
 * state stays, or is UPGRADE_REFUSED.
 */
void upgrade_carry_out(struct upgrade *upgrade);

/*
 * In the rehearsal, when the configuration has been read; @roster is NULL if it is of another format.  Returns the
 * exit status.
 */
int upgrade_rehearse(const struct roster *roster);
