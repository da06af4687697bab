#pragma once

/* When a tree ends by itself, and with what exit status: exit-when, essential, success-status. */

#include "daemon/service.h"
#include "daemon/tree.h"

/*
 * Has everybody come to an end whom exit-when = all waits for: the essential services or, without
 * any, all services?  Nobody has for want of services.
 */
bool exit_is_due(const struct tree *tree);

/* Is there an essential service? */
bool exit_has_essential(const struct tree *tree);

/*
 * Who gives the daemon its exit status then: the first that ended badly, else an essential service.
 * NULL: nobody.
 */
struct service *exit_cause(const struct tree *tree);
