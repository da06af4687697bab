/*
 * The set of names in the context is the truth; each node has a copy of its own bit.  A change is
 * made to a copy of the set, which takes its place when a child process has written it: fsync(2) may
 * take seconds, and the daemon must not wait for a disk.  One change is written at a time.
 */
#include "daemon/reload/enable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macro.h"
#include "daemon/loop/closer.h"

/* The bits of the nodes follow the set. */
static void enable_update_nodes(struct tree *tree)
{
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		n->disabled = disabled_has(&tree->ctx->disabled, n->config->path);
		if (!n->service)
			continue;
		service_recount(n->service);
		service_update_demand(n->service);
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
	enable_update_nodes(tree);
}

void enable_cancel(struct enable_reading *reading, struct tree *tree)
{
	if (reading->kept)
		return;
	disabled_done(&tree->ctx->disabled);
	tree->ctx->disabled = reading->before;
	enable_update_nodes(tree);
}

void enable_commit(struct enable_reading *reading, struct tree *tree)
{
	disabled_done(&reading->before);
	if (reading->garbage)
		disabled_keep_aside(tree->config->state, tree->ctx->log);
	stamps_use(&tree->ctx->stamps, tree->config->state, tree->ctx->log);
}

/* --- changes by clients --- */

/* The change that is being written, or the last one. */
struct saving {
	struct tree *tree;
	struct closer closer;
	struct disabled next;
	unsigned number;
	int error; /* of the last change that has ended: 0 or an errno */
	bool running;
	bool enabled;
	const char *path;		/* of the state file; for the child process */
	char name[CONFIG_NAME_MAX + 1]; /* of the node, for the log */
};

static void enable_on_saved(struct closer *closer)
{
	struct saving *s = container_of(closer, struct saving, closer);
	struct context *ctx = s->tree->ctx;

	s->running = false;
	s->error = closer->error;
	context_update_soon(ctx);
	if (s->error) {
		disabled_done(&s->next);
		return;
	}
	disabled_done(&ctx->disabled);
	ctx->disabled = s->next;
	s->next = (struct disabled){ .names = NULL };
	enable_update_nodes(s->tree);
	ctx->remarks++;
	log_node(ctx->log, LOG_NOTICE, s->name, "%s",
		 s->enabled ? "enabled: starts by itself if autostart is set"
			    : "disabled: does not start by itself");
}

/* Makes the next set from that of @tree.  Return: 0 or -ENOMEM. */
static int enable_change(struct saving *s, const struct node *node, bool enabled)
{
	const struct disabled *before = &s->tree->ctx->disabled;
	int r = 0;

	for (size_t i = 0; r == 0 && i < before->n; i++)
		r = disabled_set(&s->next, before->names[i], true);
	for (const struct node *n = node; r == 0 && n; n = node_next(n, node))
		if (n->service)
			r = disabled_set(&s->next, n->config->path, !enabled);
	return r;
}

static int enable_save(void *arg)
{
	const struct saving *s = arg;

	fd_close_above(STDERR_FILENO);
	return disabled_write(&s->next, s->path);
}

int enable_set(struct tree *tree, struct node *node, bool enabled, unsigned *number)
{
	const char *path = tree->config->state;
	struct saving *s;
	int r;

	if (!path || strcmp(path, "none") == 0)
		return -ENOENT;
	if (!tree->ctx->saving) {
		s = calloc(1, sizeof(*s));
		if (!s)
			return -ENOMEM;
		s->tree = tree;
		closer_init(&s->closer, tree->ctx, enable_on_saved);
		tree->ctx->saving = s;
	}
	s = tree->ctx->saving;
	if (s->running)
		return -EBUSY;
	s->path = path;
	s->enabled = enabled;
	(void)snprintf(s->name, sizeof(s->name), "%s", node_name(node));
	r = enable_change(s, node, enabled);
	if (r == 0)
		r = closer_call(&s->closer, enable_save, s);
	if (r < 0) {
		disabled_done(&s->next);
		return r;
	}
	*number = ++s->number;
	s->running = true;
	return 0;
}

/* A change that begins in the turn after the end of another one ends in a later turn. */
int enable_result(const struct tree *tree, unsigned number)
{
	const struct saving *s = tree->ctx->saving;

	return s->running && s->number == number ? -EINPROGRESS : -s->error;
}

void enable_done(struct context *ctx)
{
	struct saving *s = ctx->saving;

	ctx->saving = NULL;
	if (!s)
		return;
	closer_done(&s->closer);
	disabled_done(&s->next);
	free(s);
}
