#pragma once

/*
 * The program of a helper that the daemon executes, a descriptor.  It is opened at the start of the daemon: the path
 * of an upgraded package has one of another version.
 */

#include "daemon/loop/context.h"

enum helper {
	HELPER_LOGGER,
	HELPER_SANDBOX,
};

struct helper_program {
	struct context *ctx;
	enum helper helper;
	const char *path;
	int fd;			      /* or -1 */
	int former_fd;		      /* of the former version; or -1 */
	unsigned place, place_former; /* of rows in the roster */
};

/*
 * Takes the program of the former image of the daemon, which is that of the same version, or opens it.  A daemon
 * that replaces another keeps the former one, for the case that it has to give way.
 */
void helper_program_init(struct helper_program *program, struct context *ctx, enum helper helper);
void helper_program_done(struct helper_program *program);

/* Opens it unless it is open.  Return: 0 or -errno. */
int helper_program_open(struct helper_program *program);

/* Closes it: the next attempt opens the file that the path has then. */
void helper_program_forget(struct helper_program *program);
