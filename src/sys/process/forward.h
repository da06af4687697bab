#pragma once

/*
 * Signals of a program that runs one command: the signal that each is passed on as, and the
 * processes that get it.
 *
 * Every signal that can be caught is passed on, also SIGSEGV and the like: a real fault of this
 * program kills it even though the signal is blocked, so a signal that arrives was sent.  Only
 * SIGCHLD is not passed on.
 */

#include "sys/process/descendants.h"

#define FORWARD_SIGNALS 65 /* numbers, with the 0 that is none */

enum forward_scope {
	FORWARD_GROUP, /* the command's process group */
	FORWARD_MAIN,  /* the command itself */
	FORWARD_ALL,   /* every process, as PID 1; else all descendants */
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
 * Adds a rule: "TERM:QUIT", "15:3"; "HUP:0" and "HUP:" drop the signal.  A later rule overrides an
 * earlier one for the same signal.  A rule does not apply to the result of another rule.
 *
 * Return: 0; -EINVAL: no rule, or a rule for SIGKILL, SIGSTOP or SIGCHLD.
 */
int forward_rewrite(struct forward *forward, const char *rule);

/*
 * Returns the signal that @signo of @sender is passed on as; 0: none, as for SIGPIPE and SIGXFSZ
 * that this process caused.  A stop signal of a terminal without a rule becomes SIGSTOP: a command
 * that handles or ignores the stop signal would continue under a suspended init.  With FORWARD_MAIN it
 * stays as it is, as of dumb-init without a session.
 */
int forward_as(const struct forward *forward, int signo, pid_t sender);

/* Sends @signo.  @main is an uncollected child that leads its group; @inherited may be NULL. */
void forward_send(enum forward_scope scope, pid_t main, int signo,
		  const struct descendants *inherited);
