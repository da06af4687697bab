#pragma once

/*
 * Resolves sections: names of nodes become edges, services inherit keys from the nodes above, %n
 * and the like are replaced, and keys are checked against each other.
 */

#include "model/keys/section.h"

/*
 * Completes the nodes of @config from their sections.  Errors go to @diag; a setting with an error
 * is unchanged.  @tape and @open: see struct source.
 *
 * Return: 0 or -ENOMEM.
 */
int resolve_sections(struct config *config, int tape, int (*open)(const char *path, char **why),
		     struct diag *diag);
