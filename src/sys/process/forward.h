#pragma once

/*
 * What becomes of a signal to us when we stand in front of one command: as what it is passed on,
 * and to whom.
 *
 * All that can be caught is passed on, the signals of a program's faults too: one of our own does
 * not ask whether it is blocked, so what arrives was sent.  SIGCHLD alone is ours.
 */

#include <sys/types.h>

#include "sys/process/descendants.h"

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
 * The signal to pass @signo of @sender on as; 0: none, also for SIGPIPE and SIGXFSZ of our own.  A
 * stop signal of a terminal that no rule is for is SIGSTOP: a command that handles or ignores it
 * would run on under a suspended init.
 */
int forward_as(const struct forward *forward, int signo, pid_t sender);

/* Sends @signo.  @main is an uncollected child that leads its group; @inherited may be NULL. */
void forward_send(enum forward_scope scope, pid_t main, int signo,
		  const struct descendants *inherited);
