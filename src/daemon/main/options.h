#pragma once

/* What swansongd is asked for on its command line, and the exit statuses that are its own. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "sys/process/command.h"

#define DAEMON_EXIT_FAULT  1
#define DAEMON_EXIT_FORCED 124
#define DAEMON_EXIT_CONFIG 78

struct daemon_options {
	const char *const *paths; /* of the configuration */
	size_t n_paths;
	bool trust;	      /* files of any user are read */
	char *const *command; /* NULL, or what to run instead of a configuration */
	struct command_options command_options;
	bool notify_ready;   /* the command says when it is ready */
	pid_t parent;	     /* getppid() at the beginning */
	const char *socket;  /* NULL: as the configuration has it */
	uint64_t grace_usec; /* 0: as the environment has it (daemon/grace.h) */
	struct log *log;
	const char *log_file; /* NULL: standard error */
};
