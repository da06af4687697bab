/*
 * Leases are counted on the node of the service and on each node below it, up to nodes with a
 * nearer service; an attached program counts its guards itself.
 */
#include "daemon/service/busy.h"

#include "daemon/guard/lease.h"

struct service *busy_service(const struct node *node)
{
	while (node && !node->service)
		node = node->parent;
	return node ? node->service : NULL;
}

unsigned long busy_guards(const struct service *s)
{
	unsigned long n = s->setup.attach ? attach_guards(s->setup.attach) : 0;
	const struct lease *lease;

	for (const struct node *node = s->node; node; node = node_next(node, s->node)) {
		if (busy_service(node) != s)
			continue;
		/* A lease of another generation on its own node does not concern this run. */
		list_for_each (lease, &node->leases, of_node)
			n += node != s->node || lease->generation == s->main.generation;
	}
	return n;
}
