/*
 * The set of names in the context is the truth; each node has a copy of its own bit.  A change is
 * made to a copy of the set, which takes its place when a child process has written it: fsync(2) may
 * take seconds, and the daemon must not wait for a disk.  One change is written at a time.
 */
#include "daemon/reload/enable.h"

/* Copies the set to the bits of the nodes. */
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
	disabled_enter(&tree->ctx->disabled, tree->ctx->roster, &tree->ctx->disabled_copy);
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
	bool enabled;
	const struct enable_scaling *scaling; /* NULL: the change enables or disables */
	char name[CONFIG_NAME_MAX + 1];	      /* of the node, for the log */
};

static void enable_swap(struct saving *s)
{
	struct context *ctx = s->tree->ctx;
	const struct disabled before = ctx->disabled;

	ctx->disabled = s->next;
	s->next = before;
	disabled_enter(&ctx->disabled, ctx->roster, &ctx->disabled_copy);
}

/* The change was of a number of instances, which is in use already: restores the former one. */
static void enable_give_up(struct saving *s)
{
	if (s->scaling) {
		enable_swap(s);
		(void)s->scaling->apply(s->scaling->arg, s->name, NULL);
	}
	disabled_done(&s->next);
}

static void enable_on_saved(struct closer *closer)
{
	struct saving *s = container_of(closer, struct saving, closer);
	struct context *ctx = s->tree->ctx;

	s->error = closer->error;
	context_update_soon(ctx);
	if (s->error) {
		enable_give_up(s);
		return;
	}
	if (!s->scaling)
		enable_swap(s);
	disabled_done(&s->next);
	if (s->scaling)
		return;
	enable_update_nodes(s->tree);
	ctx->remarks++;
	log_node(ctx->log, LOG_NOTICE, s->name, "%s",
		 s->enabled ? "enabled: starts by itself if autostart is set"
			    : "disabled: does not start by itself");
}

bool enable_is_scaling(const struct context *ctx)
{
	return ctx->saving && ctx->saving->closer.process.alive && ctx->saving->scaling;
}

static int enable_save(void *arg)
{
	const struct saving *s = arg;

	fd_close_above(STDERR_FILENO);
	return disabled_write(s->scaling ? &s->tree->ctx->disabled : &s->next,
			      s->tree->config->state);
}

/* Begins a change of @name: the next set is a copy.  Return: 0; -EBUSY, -ENOENT or -ENOMEM. */
static int enable_begin_change(struct tree *tree, const char *name, struct saving **ret)
{
	const struct disabled *before = &tree->ctx->disabled;
	const char *path = tree->config->state;
	struct saving *s = tree->ctx->saving;
	int r = 0;

	if (!path || strcmp(path, "none") == 0)
		return -ENOENT;
	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s)
			return -ENOMEM;
		s->tree = tree;
		closer_init(&s->closer, tree->ctx, enable_on_saved);
		tree->ctx->saving = s;
	}
	if (s->closer.process.alive)
		return -EBUSY;
	(void)snprintf(s->name, sizeof(s->name), "%s", name);
	*ret = s;
	for (size_t i = 0; r == 0 && i < before->n; i++)
		r = disabled_set(&s->next, before->names[i], true);
	return r;
}

/* Writes the set, unless @r is an error. */
static int enable_end_change(struct saving *s, int r, unsigned *number)
{
	if (r < 0) {
		disabled_done(&s->next);
		return r;
	}
	r = closer_call(&s->closer, enable_save, s);
	if (r < 0) {
		enable_give_up(s);
		return r;
	}
	*number = ++s->number;
	return 0;
}

int enable_set(struct tree *tree, struct node *node, bool enabled, unsigned *number)
{
	struct saving *s = NULL;
	int r = enable_begin_change(tree, node_name(node), &s);

	if (!s)
		return r;
	s->enabled = enabled;
	s->scaling = NULL;
	for (const struct node *n = node; r == 0 && n; n = node_next(n, node))
		if (n->service)
			r = disabled_set(&s->next, n->config->path, !enabled);
	return enable_end_change(s, r, number);
}

int enable_scale(struct tree *tree, const char *template, const uint64_t *instances,
		 const struct enable_scaling *scaling, FILE *reason, unsigned *number)
{
	struct saving *s = NULL;
	int r = enable_begin_change(tree, template, &s);

	if (!s)
		return r;
	s->scaling = scaling;
	if (r == 0)
		r = disabled_scale(&s->next, template, instances);
	if (r == 0) {
		enable_swap(s);
		r = scaling->apply(scaling->arg, template, reason);
		if (r < 0)
			enable_swap(s);
	}
	return enable_end_change(s, r, number);
}

/* A change that begins in the turn after the end of another one ends in a later turn. */
int enable_result(const struct tree *tree, unsigned number)
{
	const struct saving *s = tree->ctx->saving;

	return s->closer.process.alive && s->number == number ? -EINPROGRESS : -s->error;
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
