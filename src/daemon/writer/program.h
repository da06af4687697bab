#pragma once

/*
 * The program of the logger, a descriptor.  It is opened at the start of the daemon: the path of an upgraded
 * package has one of another version.
 */

#include "daemon/loop/context.h"

struct logger_program {
	struct context *ctx;
	const char *path;
	int fd;			      /* or -1 */
	int former_fd;		      /* of the former version; or -1 */
	unsigned place, place_former; /* of rows in the roster */
};

/*
 * Takes the program of the former image of the daemon, which is that of the same version, or opens it.  A daemon
 * that replaces another keeps the former one, for the case that it has to give way.
 */
void logger_program_init(struct logger_program *program, struct context *ctx);
void logger_program_done(struct logger_program *program);

/* Opens it unless it is open.  Return: 0 or -errno. */
int logger_program_open(struct logger_program *program);

/* Closes it: the next attempt opens the file that the path has then. */
void logger_program_forget(struct logger_program *program);
