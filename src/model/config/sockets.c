/*
 * All sockets so far are in a tree, which is searched by address.  The configuration owns them; a
 * socket of an agent has no name.
 */
#include "model/config/sockets.h"

#include <search.h>

/* Returns the mistake of @listen beside @other, an earlier socket at its address; or NULL. */
static const char *sockets_find_mistake(const struct node_config *node, const struct listen *listen,
					const struct listen *other)
{
	const struct extras *extras = node->parts.extras;

	if (other == listen)
		return NULL;
	if (extras->listen && other >= extras->listen && other < extras->listen + extras->n_listen)
		return "duplicate socket";
	if (!listen->name || !other->name)
		return "the socket is used elsewhere, and an agent needs its own";
	if (other->mode != listen->mode || other->owner != listen->owner ||
	    other->group != listen->group)
		return "another section has the socket with another mode, owner or group";
	return NULL;
}

static int sockets_resolve_one(struct sockets *s, struct node_config *node, enum key_id key,
			       struct listen *listen, struct diag *diag)
{
	struct listen *const *found;
	const char *why = NULL;
	int r = listen_resolve(listen, node->path, &why);

	if (r == 0) {
		found = tsearch(listen, &s->seen, listen_compare);
		if (!found)
			return -ENOMEM;
		why = sockets_find_mistake(node, listen, *found);
	}
	if (why && r != -ENOMEM) {
		char text[DIAG_EXCERPT_MAX];

		section_error(node, diag, key, "invalid value '%s%s': %s; expected %s",
			      listen_prefix(listen->kind), diag_excerpt(text, listen->address), why,
			      keys[key].type->expected);
	}
	return r == -ENOMEM ? r : 0;
}

int sockets_resolve(struct sockets *s, struct node_config *node, struct diag *diag)
{
	const struct extras *extras = node_config_extras(node);
	bool service = node_config_line(node, KEY_COMMAND);
	int r = 0;

	for (size_t i = 0; r == 0 && service && i < extras->n_listen; i++)
		r = sockets_resolve_one(s, node, KEY_LISTEN, &extras->listen[i], diag);
	if (r == 0 && extras->agent)
		r = sockets_resolve_one(s, node, KEY_AGENT, extras->agent, diag);
	return r;
}

static void sockets_keep_listen(void *listen)
{
}

void sockets_done(struct sockets *s)
{
	tdestroy(s->seen, sockets_keep_listen);
}

static void sockets_check_quiet(const struct node_config *node, struct diag *diag)
{
	const struct extras *extras = node_config_extras(node);
	in_port_t ports[NODE_CONFIG_PORTS_MAX];
	const char *why = NULL;

	if (!extras->drain_quiet_usec)
		return;
	if (!extras->drain_delay_usec)
		why = "has no effect without its limit: set drain-delay, for example "
		      "drain-delay = 30s";
	else if (node_config_ports(node, ports) == 0)
		why = "has no effect, as its connections cannot be seen: set listen, ready or health "
		      "with a port, for example ready = tcp:127.0.0.1:8080";
	if (why)
		section_warn(node, diag, KEY_DRAIN_QUIET, "%s", why);
}

/* The loop runs backwards, as the nodes below a node come after it. */
int sockets_check_drains(const struct config *config, struct diag *diag)
{
	cleanup(freep) bool *drains = calloc(config->n_nodes, sizeof(*drains));

	if (!drains)
		return -ENOMEM;
	for (size_t i = config->n_nodes; i-- > 0;) {
		const struct node_config *node = config->nodes[i];
		const struct extras *extras = node_config_extras(node);

		drains[i] |= extras->drain_delay_usec > 0;
		if (node->parent)
			drains[node->parent->index] |= drains[i];
		if (extras->agent && !drains[i])
			section_warn(node, diag, KEY_AGENT,
				     "has no effect in time, as services are signalled at once: set "
				     "drain-delay, for example drain-delay = 5s");
		if (node->argv)
			sockets_check_quiet(node, diag);
	}
	return 0;
}
