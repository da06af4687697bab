#pragma once

/* The sockets that the daemon opens by a configuration: those of the keys listen and agent. */

#include "model/keys/section.h"

struct sockets {
	void *seen; /* tsearch(3) tree, each address once; initially NULL */
};

/*
 * Resolves the sockets of @node after its keys are read.  Several services may listen at one address;
 * an agent needs an address of its own.  Return: 0 or -ENOMEM; mistakes are added to @diag.
 */
int sockets_resolve(struct sockets *sockets, struct node_config *node, struct diag *diag);
void sockets_done(struct sockets *sockets);

/*
 * Warns of keys without an effect: an agent, if no service in the node has a drain-delay, so that each
 * is signalled before a balancer has asked the agent; and drain-quiet, if no connections can be seen.
 * Return: 0 or -ENOMEM.
 */
int sockets_check_drains(const struct config *config, struct diag *diag);
