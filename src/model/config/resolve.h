#pragma once

/*
 * What the sections mean together: names of nodes become edges, services take from the nodes above
 * what is inherited, %n and its like are replaced, and keys are checked against each other.
 */

#include "model/base/diag.h"
#include "model/keys/section.h"

/*
 * Completes the nodes of @config from their sections.  Mistakes go to @diag; a setting with a
 * mistake is left as it was.
 *
 * Return: 0 or -ENOMEM.
 */
int resolve_sections(struct config *config, struct diag *diag);
