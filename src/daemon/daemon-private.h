#pragma once

/* What the daemon as a whole is made of; for the daemon*.c only. */

#include "daemon/command.h"
#include "daemon/control.h"
#include "daemon/daemon.h"
#include "daemon/parent.h"
#include "daemon/process.h"
#include "daemon/reload.h"
#include "daemon/sweep.h"
#include "daemon/tree.h"

/* What is known of the first who died since all were collected. */
enum first_death {
	FIRST_NONE,	/* nothing, or it is of no matter any more */
	FIRST_DIED,	/* who it was */
	FIRST_FOLLOWED, /* it has been collected, and its service may be due to start again */
};

struct daemon {
	const struct daemon_options *options;
	struct context ctx;
	struct process_table processes;
	struct signals signals;
	struct tree tree;
	struct sweep *sweep;
	struct control *control;
	struct parent *parent;
	struct reload reload;
	struct command command; /* with options.command */
	int signals_fd;
	sd_event_source *signal, *abandon;
	uint64_t abandon_usec; /* what that is armed for */
	bool is_supervised;    /* there is somebody to notify */
	bool reap;	       /* children have died */
	enum first_death first;
	pid_t died;	      /* with FIRST_DIED */
	bool exit_on_signal;  /* with its number */
	int stopped_by;	      /* the signal that stopped the root, or 0 */
	bool ended_by_itself; /* an essential service, before anybody asked */
	bool given_up;	      /* ... or one that was given up */
	bool finished;
};

/*
 * What @d->options say.  Return: 0; -EINVAL if there are mistakes, which have been told; or -errno.
 */
int daemon_load(struct daemon *d, struct config **ret);

/*
 * Makes all that runs, of @config, and starts what starts by itself.  What there is by then, also
 * on failure, is in @d.  Return: 0; -EADDRINUSE, which has been told; or -errno.
 */
int daemon_start(struct daemon *d, struct config *config, struct parent_address *address);

/* Handles signals from now on, by @d->signals_fd.  Return: 0 or -errno. */
int daemon_watch_signals(struct daemon *d);

/* The command that we stand in front of; NULL: none, or it is no service yet. */
struct service *daemon_command(const struct daemon *d);

/*
 * All that follows from what has happened, in one order; what follows from that, in the next turn.
 */
void daemon_settle(struct daemon *d);
