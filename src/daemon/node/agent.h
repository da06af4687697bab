#pragma once

/*
 * The agent of a node (key agent): a socket at which the daemon replies to balancers whether to
 * send requests to the node.  Each connection gets the word of the moment: as a line of the agent-check of
 * HAProxy, or as a reply of HTTP/1.0, with status 200 for ready and 503 else.  A stop changes the word
 * at once, before any service of the node is signalled.
 *
 * Every process that reaches the socket may ask.  Nothing is kept of a connection: it is answered
 * and closed in the call that accepts it.
 */

#include "daemon/node/node.h"

enum agent_word {
	AGENT_READY, /* its services are ready */
	AGENT_DRAIN, /* it, or a service of it, is stopped and has not ended: no new connections */
	AGENT_DOWN,  /* else */
};

/*
 * Opens the socket and begins to answer for @node; *ret is NULL if @config has no agent.  In a reload
 * the agent before it answers as well, until it is freed.  Return: 0, or -errno, which is logged if it
 * is of the socket.
 */
int agent_new(struct agent **ret, struct node *node, const struct node_config *config);
struct agent *agent_free(struct agent *agent);

enum agent_word agent_word(const struct node *node);

/* "ready", "drain" or "down" */
const char *agent_word_name(enum agent_word word);
