#pragma once

/*
 * What becomes of a signal to us when we stand in front of one command: as what it is passed on,
 * and to whom.
 *
 * All that can be caught is passed on, the signals of a program's faults too: one of our own does
 * not ask whether it is blocked, so what arrives was sent.  SIGCHLD alone is ours.
 */

#include <sys/types.h>

#include "sys/descendants.h"

#define FORWARD_SIGNALS 65 /* numbers, with the 0 that is none */

enum forward_scope {
	FORWARD_GROUP, /* the command's process group */
	FORWARD_MAIN,  /* the command itself */
	FORWARD_ALL,   /* everybody there is, as PID 1; else all that descend from us */
};

struct forward {
	enum forward_scope scope;
	unsigned char as[FORWARD_SIGNALS]; /* by signal; 0: not passed on */
};

/* Every signal as it is, to the group. */
void forward_init(struct forward *forward);

/* "group", "main" or "all".  Return: 0 or -EINVAL. */
int forward_parse_scope(const char *text, enum forward_scope *ret);

/*
 * "TERM:QUIT", "15:3"; "HUP:0" and "HUP:" are for not passing it on.  Later rules go before earlier
 * ones, and none applies to what another makes.
 *
 * Return: 0, or -EINVAL: no such rule, or about a signal that nobody can catch or that is ours.
 */
int forward_rewrite(struct forward *forward, const char *rule);

/*
 * What @signo, sent by @sender, is passed on as; 0: not at all, since nobody is to have it, or
 * since we brought it about ourselves, by writing to a reader that is gone.
 */
int forward_as(const struct forward *forward, int signo, pid_t sender);

/*
 * Sends @signo to those in @scope.  @main is a child that leads its process group and has not been
 * collected.  @inherited, which may be NULL, is nobody's.
 */
void forward_send(enum forward_scope scope, pid_t main, int signo,
		  const struct descendants *inherited);
