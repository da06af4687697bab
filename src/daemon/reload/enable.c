/*
 * The set of names in the context is the truth; each node has a copy of its own bit.  A change is
 * made to a copy of the set, which takes its place when the file has been written.
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

void enable_begin(struct enable_reading *reading, struct tree *tree, const struct config *config,
		  struct log *log)
{
	struct disabled next = { .names = NULL };
	int r = disabled_read(&next, config->state, log);

	*reading = (struct enable_reading){ .garbage = r == -EBADMSG };
	reading->kept = r < 0 && !reading->garbage;
	if (reading->kept) {
		if (log)
			log_line(log, LOG_ERR,
				 "%s: cannot be read: the same services as before are disabled",
				 config->state);
		return;
	}
	reading->before = tree->ctx->disabled;
	tree->ctx->disabled = next;
	follow(tree);
}

void enable_cancel(struct enable_reading *reading, struct tree *tree)
{
	if (reading->kept)
		return;
	disabled_done(&tree->ctx->disabled);
	tree->ctx->disabled = reading->before;
	follow(tree);
}

void enable_commit(struct enable_reading *reading, struct tree *tree)
{
	disabled_done(&reading->before);
	if (reading->garbage)
		disabled_keep_aside(tree->config->state, tree->ctx->log);
	stamps_use(&tree->ctx->stamps, tree->config->state, tree->ctx->log);
}

/* Makes @next from the set of @tree.  Return: 0 or -errno. */
static int change(const struct tree *tree, const struct node *node, bool enabled,
		  struct disabled *next)
{
	const struct disabled *before = &tree->ctx->disabled;
	int r = 0;

	for (size_t i = 0; r == 0 && i < before->n; i++)
		r = disabled_set(next, before->names[i], true);
	for (const struct node *n = node; r == 0 && n; n = node_next(n, node))
		if (n->service)
			r = disabled_set(next, n->config->path, !enabled);
	return r < 0 ? r : disabled_write(next, tree->config->state);
}

int enable_set(struct tree *tree, struct node *node, bool enabled)
{
	struct disabled next = { .names = NULL };
	const char *path = tree->config->state;
	int r;

	if (!path || strcmp(path, "none") == 0)
		return -ENOENT;
	r = change(tree, node, enabled, &next);
	if (r < 0) {
		disabled_done(&next);
		return r == -ENOENT ? -ENOTDIR : r; /* of the directory */
	}
	disabled_done(&tree->ctx->disabled);
	tree->ctx->disabled = next;
	follow(tree);
	tree->ctx->remarks++;
	log_node(tree->ctx->log, LOG_NOTICE, node_name(node), "%s",
		 enabled ? "enabled: starts by itself if autostart is set"
			 : "disabled: does not start by itself");
	return 0;
}
