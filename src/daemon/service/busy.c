/*
 * Leases are counted on the node of the service and on each node below it, up to nodes with a
 * nearer service; an attached program counts its guards itself.
 */
#include "daemon/service/busy.h"

#include "daemon/guard/lease.h"

/* A lease of another generation on the service's own node does not concern this run. */
static unsigned long busy_count_leases(const struct service *s, const struct node *node)
{
	const struct lease *lease;
	unsigned long n = 0;

	list_for_each (lease, &node->leases, of_node)
		n += node != s->node || lease->generation == s->main.generation;
	return n;
}

struct service *busy_service(const struct node *node)
{
	while (node && !node->service)
		node = node->parent;
	return node ? node->service : NULL;
}

unsigned long busy_guards(const struct service *s)
{
	unsigned long n = s->setup.attach ? attach_guards(s->setup.attach) : 0;

	for (const struct node *node = s->node; node; node = node_next(node, s->node))
		if (busy_service(node) == s)
			n += busy_count_leases(s, node);
	return n;
}
