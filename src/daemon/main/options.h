#pragma once

/* The options of swansongd's command line, and its own exit statuses. */

#include "base/log.h"
#include "sys/process/command.h"

#define DAEMON_EXIT_FAULT  1
#define DAEMON_EXIT_FORCED 124
#define DAEMON_EXIT_CONFIG 78

struct daemon_options {
	char *const *argv;	  /* the whole command line */
	const char *const *paths; /* of the configuration */
	size_t n_paths;
	bool trust;	      /* reads files of any user */
	char *const *command; /* NULL, or the command to run without a configuration */
	struct command_options command_options;
	bool notify_ready;   /* the command reports its own readiness */
	bool keeper;	     /* a process that goes on after SIGKILL of this one */
	pid_t parent;	     /* getppid() at the start */
	const char *socket;  /* NULL: as configured */
	uint64_t grace_usec; /* 0: as in the environment (daemon/describe/parent.h) */
	struct log *log;
	const char *log_file; /* NULL: standard error */
};

/* Runs until the end of the tree.  Returns the exit status. */
int daemon_run(const struct daemon_options *options);
