#pragma once

/* The members of the daemon as a whole. */

#include "daemon/control/control.h"
#include "daemon/main/options.h"
#include "daemon/reap/orphans.h"
#include "daemon/reap/survivors.h"
#include "daemon/reload/changes.h"
#include "daemon/reload/trial.h"
#include "daemon/reload/upgrade.h"
#include "daemon/spawn/command.h"

/* The first child that has died since all were collected. */
enum first_death {
	FIRST_NONE,	/* none, or it does not matter any more */
	FIRST_DIED,	/* its pid is in @died */
	FIRST_FOLLOWED, /* it was collected; its service may start again */
};

struct daemon {
	const struct daemon_options *options;
	char **environment; /* for services; NULL in front of a command */
	struct context ctx;
	struct process_table processes;
	struct signals signals;
	struct tree tree;
	struct orphans *orphans;
	struct survivors survivors;
	struct control *control;
	struct parent *parent;
	struct reload reload;
	struct trial trial;
	struct programs programs;
	struct upgrade upgrade;
	struct rollout rollout;
	struct changes changes;
	struct command command;	     /* with options.command */
	struct crash_history former; /* of the former image */
	struct keeper keeper;
	int history; /* of faults; -1: none */
	sd_event_source *signal;
	struct alarm abandon; /* for processes that survive SIGKILL */
	bool is_supervised;   /* there is a parent manager to notify */
	bool reap;	      /* children have died */
	enum first_death first;
	pid_t died;	     /* with FIRST_DIED */
	unsigned launched;   /* FIRST_FOLLOWED: context.launched when it was collected */
	bool exit_on_signal; /* with the number of the signal */
	int stopped_by;	     /* the signal that stopped the root; 0: none */
	bool finished;
};
