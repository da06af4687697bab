#pragma once

/* What the daemon as a whole is made of. */

#include "daemon/control/control.h"
#include "daemon/loop/process.h"
#include "daemon/main/options.h"
#include "daemon/reap/orphans.h"
#include "daemon/reload/reload.h"
#include "daemon/spawn/command.h"
#include "daemon/tree/tree.h"
#include "daemon/view/parent.h"

/* What is known of the first who died since all were collected. */
enum first_death {
	FIRST_NONE,	/* nothing, or it is of no matter any more */
	FIRST_DIED,	/* who it was */
	FIRST_FOLLOWED, /* it has been collected, and its service may be due to start again */
};

struct daemon {
	const struct daemon_options *options;
	char **environment; /* for services; NULL in front of a command, which has ours */
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
	sd_event_source *signal;
	struct alarm abandon; /* when SIGKILL did not do */
	bool is_supervised;   /* there is somebody to notify */
	bool reap;	      /* children have died */
	enum first_death first;
	pid_t died;	     /* with FIRST_DIED */
	bool exit_on_signal; /* with its number */
	int stopped_by;	     /* the signal that stopped the root, or 0 */
	bool finished;
};
