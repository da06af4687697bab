#pragma once

/* The variables that a service gets: from its section and those above it, and from their files. */

#include "model/base/diag.h"
#include "model/keys/section.h"

/* The files that were read, each once.  Begins as all zeroes. */
struct environment_files {
	void *by_path;
};

void environment_files_done(struct environment_files *files);

/*
 * Completes @node with its variables.  What is wrong with a file, or that it is not there, goes to
 * @diag.
 *
 * Return: 0 or -ENOMEM.
 */
int environment_resolve(struct environment_files *files, struct node_config *node,
			struct diag *diag);
