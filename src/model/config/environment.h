#pragma once

/* The environment of a service: from its section, the sections above, and the files of these. */

#include "model/keys/section.h"

/* The files read so far, each once.  Zeroes are the initial value. */
struct environment_files {
	int tape; /* see source_each() */
	int (*open)(const char *path, char **why); /* see struct source */
	void *by_path;
};

void environment_files_done(struct environment_files *files);

/*
 * Completes @node with its variables.  Errors of a file, or its absence, go to @diag.
 *
 * Return: 0 or -ENOMEM.
 */
int environment_resolve(struct environment_files *files, struct node_config *node,
			struct diag *diag);
