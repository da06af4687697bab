#include "daemon/lease.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "sys/proc.h"

int lease_new(struct lease **ret, struct node *node, const struct unix_peer *peer, const char *why)
{
	struct lease *lease = calloc(1, sizeof(*lease));
	struct proc_info info;

	if (!lease)
		return -ENOMEM;
	lease->node = node;
	lease->guard = swansong_guard(node->work);
	lease->id = ++node->ctx->last_id;
	lease->generation = node->generation;
	lease->since_usec = clock_now_usec();
	lease->peer = *peer;
	(void)snprintf(lease->why, sizeof(lease->why), "%s", why);
	if (peer->pid > 0 && proc_read(peer->pid, &info) == 0)
		(void)snprintf(lease->command, sizeof(lease->command), "%s", info.name);
	list_init(&lease->of_node);
	list_append(&node->leases, &lease->of_node);
	traces_expect(&node->ctx->traces, 1);
	node_guards_changed(node);
	*ret = lease;
	return 0;
}

static void release(struct lease *lease)
{
	if (!lease->node)
		return;
	list_remove(&lease->of_node);
	traces_expect(&lease->node->ctx->traces, -1);
	node_guards_changed(lease->node);
	if (lease->node->retired)
		node_follow_up(lease->node);
	lease->node = NULL;
	swansong_guard_drop(&lease->guard);
}

struct lease *lease_free(struct lease *lease)
{
	if (!lease)
		return NULL;
	release(lease);
	free(lease);
	return NULL;
}

void lease_revoke(struct lease *lease)
{
	release(lease);
	if (lease->on_revoked)
		lease->on_revoked(lease, lease->arg);
}
