#pragma once

/*
 * One run of the program: what was asked for, and the conversation with the daemon.  Here faults
 * become a message to the person and an exit status.
 */

#include "base/log.h"
#include "ctl/options.h"
#include "ctl/screen.h"
#include "proto/client.h"
#include "proto/interface.h"

enum exit_status {
	CTL_DONE = 0,
	CTL_FAILED = 1,
	CTL_USAGE = 2,
	CTL_NO_DAEMON = 3,
	CTL_NO_NODE = 4,
	CTL_DENIED = 5,
	CTL_STOPPED = 75, /* guard: on a stopped node */
	CTL_CONFIG = 78,  /* check: there are errors */
	CTL_TIMED_OUT = 124,
	CTL_INTERRUPTED = 130,
};

/* What goes on in the daemon when we stop waiting for it. */
struct ongoing {
	const char *what; /* "shutdown"; NULL: nothing does */
	const char *node;
	const char *until; /* "complete" */
};

struct ctl {
	struct options options;
	struct screen out;
	struct log log;
	uint64_t start_usec;
	uint64_t deadline_usec; /* for whatever the daemon is asked */
	int interrupt_fd;	/* of SIGINT, or -1: it ends the program */
	bool awaits_daemon;	/* until the deadline, where there is none yet */
	struct ongoing ongoing;
	char *path; /* where the daemon is; NULL before session_open() */
	struct client *client;
};

/* @waits: as long as it takes, without --timeout; SIGINT detaches then. */
void ctl_init(struct ctl *ctl, const struct options *options, bool waits);
void ctl_done(struct ctl *ctl);

/* To standard output, but for --quiet.  Nothing from outside: see table_add(), or escape it. */
void ctl_say(struct ctl *ctl, const char *format, ...) printf_like(2, 3);

/* A line on standard error that is not cut, as log_line() is; @text is escaped. */
void ctl_complain(const char *text);

/* Prints one JSON document, or line, to standard output.  Return: CTL_DONE or CTL_FAILED. */
int ctl_print_json(struct ctl *ctl, const json_t *value);

/* Says what is wrong with the negative errno @r.  Return: the exit status for it. */
int ctl_fail(struct ctl *ctl, int r);

/* All that follow return CTL_DONE, or the exit status for what they said on standard error. */

/* Connects, if that is still to be done. */
int session_open(struct ctl *ctl);

/* Takes the reference to @parameters. */
int session_send(struct ctl *ctl, enum interface_method method, json_t *parameters, unsigned flags);

/* The next reply, which is no error. */
int session_receive(struct ctl *ctl, struct message_reply *ret);

/* All of it: opens, sends, receives what may be an error. */
int session_ask(struct ctl *ctl, enum interface_method method, json_t *parameters,
		struct message_reply *ret);

/* ... which it is not. */
int session_call(struct ctl *ctl, enum interface_method method, json_t *parameters,
		 struct message_reply *ret);

/* The same for a reply that says nothing. */
int session_do(struct ctl *ctl, enum interface_method method, json_t *parameters);

/* The end of a command that has nothing to show: with --json, an empty object.  Return: @r. */
int session_finish(struct ctl *ctl, int r);

/* An error of the daemon's. */
int session_refused(struct ctl *ctl, const struct message_reply *reply);

/* "root" for the root's path, which is empty. */
const char *node_name(const char *path);
