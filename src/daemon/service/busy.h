#pragma once

/*
 * Is a service busy, or only slow to end?  It is busy while anybody holds a guard on its node that
 * is not one of its own processes: the program that is attached, or a lease on the node, or below
 * it where no other service is nearer.  A guard on a node above says of none of the services there
 * which of them it needs.
 *
 * Whoever takes or drops one says node_guards_changed().
 */

#include "daemon/service/object.h"

/* How many such guards there are. */
unsigned long busy_guards(const struct service *service);

/* The service that a guard on @node keeps busy, or NULL. */
struct service *busy_service(const struct node *node);
