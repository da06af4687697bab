/*
 * The set of names in the context is the truth; each node has a copy of its own bit.  If the file
 * cannot be written it is read again, so that set and file are the same.
 */
#include "daemon/reload/enable.h"

#include <errno.h>
#include <string.h>

/* The bits of the nodes follow the set. */
static void follow(struct tree *tree)
{
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		n->disabled = disabled_has(&tree->ctx->disabled, n->config->path);
		if (n->service)
			service_recount(n->service);
	}
	context_update_soon(tree->ctx);
}

void enable_read(struct tree *tree, const struct config *config)
{
	disabled_read(&tree->ctx->disabled, config->state, tree->ctx->log);
	follow(tree);
}

int enable_set(struct tree *tree, struct node *node, bool enabled)
{
	struct disabled *disabled = &tree->ctx->disabled;
	const char *path = tree->config->state;
	int r = 0;

	if (!path || strcmp(path, "none") == 0)
		return -ENOENT;
	for (struct node *n = node; r == 0 && n; n = node_next(n, node))
		if (n->service)
			r = disabled_set(disabled, n->config->path, !enabled);
	if (r == 0)
		r = disabled_write(disabled, path);
	if (r < 0) {
		enable_read(tree, tree->config);
		return r == -ENOENT ? -ENOTDIR : r; /* of the directory */
	}
	follow(tree);
	log_node(tree->ctx->log, LOG_NOTICE, node_name(node), "%s",
		 enabled ? "enabled: starts by itself if autostart is set"
			 : "disabled: does not start by itself");
	return 0;
}
