#pragma once

/*
 * A service is busy while a guard is held on its node or on a descendant without a nearer service,
 * by an attached program or by a lease; its own processes do not count.  A guard on an ancestor
 * names no service that it needs, and keeps none busy.
 *
 * Code that takes or drops such a guard calls node_guards_changed().
 */

#include "daemon/service/object.h"

/* Returns the number of guards that keep @service busy. */
unsigned long busy_guards(const struct service *service);

/* Returns the service that a guard on @node keeps busy, or NULL. */
struct service *busy_service(const struct node *node);
