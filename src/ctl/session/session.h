#pragma once

/*
 * A session is a run of the program: its options, and its connection to the daemon.  Its functions
 * turn a fault into a message and an exit status.
 */

#include "base/log.h"
#include "ctl/session/options.h"
#include "ctl/terminal/screen.h"
#include "proto/client.h"
#include "proto/interface.h"
#include "proto/node-view.h"

enum exit_status {
	CTL_DONE = 0,
	CTL_FAILED = 1,
	CTL_USAGE = 2,
	CTL_NO_DAEMON = 3,
	CTL_NO_NODE = 4,
	CTL_DENIED = 5,
	CTL_UNDONE = 6,	  /* rollout: it has failed and gone back */
	CTL_STOPPED = 75, /* guard: on a stopped node */
	CTL_COMING = 75,  /* health: not well, but nothing is given up */
	CTL_CONFIG = 78,  /* check: there are errors */
	CTL_TIMED_OUT = 124,
	CTL_INTERRUPTED = 130,
};

/* The work that goes on in the daemon when the program stops waiting. */
struct ongoing {
	const char *what; /* "shutdown"; NULL: no work goes on */
	const char *node;
	const char *until; /* "complete"; NULL: the same command shows it again */
};

struct ctl {
	const char *command; /* its name */
	struct options options;
	struct screen out;
	struct log log;
	uint64_t start_usec;
	uint64_t deadline_usec; /* of every request */
	int interrupt_fd;	/* of SIGINT, or -1: it ends the program */
	bool awaits_daemon;	/* wait for a daemon that has not started yet */
	struct ongoing ongoing;
	char *path; /* of the daemon's socket; NULL before session_open() */
	struct client *client;
};

/* @waits: as long as it takes, without --timeout; SIGINT detaches then. */
void ctl_init(struct ctl *ctl, const char *command, const struct options *options, bool waits);
void ctl_done(struct ctl *ctl);

/* Prints a line on standard output, except with --quiet and --json.  All of it is escaped. */
void ctl_print(struct ctl *ctl, const char *format, ...) printf_like(2, 3);

/* A line on standard error that is not cut, as log_line() is; @text is escaped. */
void ctl_print_error(const char *text);

/*
 * Returns the JSON in one line, or NULL.  A terminal gets ASCII only: it takes control characters also
 * from UTF-8.
 */
char *ctl_json_text(const struct ctl *ctl, const json_t *value);

/* Prints one JSON document, or line, to standard output.  Return: CTL_DONE or CTL_FAILED. */
int ctl_print_json(struct ctl *ctl, const json_t *value);

/* Prints a table, except with --quiet and --json.  Return: likewise. */
int ctl_print_table(struct ctl *ctl, struct table *table);

/* Prints a message for the negative errno @r.  Return: the exit status for it. */
int ctl_fail(struct ctl *ctl, int r);

/* Logs an error, by a format; its value is @status. */
#define ctl_refuse(ctl, status, ...) (log_line(&(ctl)->log, LOG_ERR, __VA_ARGS__), (status))

/* Returns false if no daemon listens; prints nothing. */
bool session_has_daemon(struct ctl *ctl);

/* The following functions return CTL_DONE, or the exit status of an error that they have logged. */

/* Connects, if that is still to be done. */
int session_open(struct ctl *ctl);

/* Opens and sends.  Takes the reference to @parameters. */
int session_send(struct ctl *ctl, enum interface_method method, json_t *parameters, unsigned flags);

/* Receives the next reply; an error is logged. */
int session_receive(struct ctl *ctl, struct message_reply *ret);

/* Opens, sends, and receives a reply, which may be an error of the daemon. */
int session_ask(struct ctl *ctl, enum interface_method method, json_t *parameters,
		struct message_reply *ret);

/* Opens, sends, and receives a reply; an error is logged. */
int session_call(struct ctl *ctl, enum interface_method method, json_t *parameters,
		 struct message_reply *ret);

/* As session_call(); with --json also prints the parameters of the reply. */
int session_show(struct ctl *ctl, enum interface_method method, json_t *parameters,
		 struct message_reply *ret);

/* Opens, sends, and receives a reply without parameters; an error is logged. */
int session_do(struct ctl *ctl, enum interface_method method, json_t *parameters);

/*
 * The same for each node of @paths, with its path and the members of @more, of which it takes the reference;
 * prints "NODE: DONE" for each, unless @done is NULL. At the end as session_finish().
 */
int session_do_nodes(struct ctl *ctl, enum interface_method method, char **paths, json_t *more,
		     const char *done);

/* The end of a command that has nothing to show: with --json, an empty object.  Return: @r. */
int session_finish(struct ctl *ctl, int r);

/* Logs the error that the daemon has replied. */
int session_refused(struct ctl *ctl, const struct message_reply *reply);

/* "root" for the root's path, which is empty. */
const char *node_name(const char *path);
