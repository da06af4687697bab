#pragma once

/*
 * What the sections mean together: names of nodes become edges, services take from the nodes above
 * what is inherited, %n and its like are replaced, and keys are checked against each other.
 */

#include "model/diag.h"
#include "model/keys.h"
#include "model/settings.h"

/*
 * Completes the nodes of @config from @sections, one for each node at its index.  Mistakes go to
 * @diag; what they concern is left as it was.
 *
 * Return: 0 or -ENOMEM.
 */
int resolve_sections(struct config *config, struct section *sections, struct diag *diag);
