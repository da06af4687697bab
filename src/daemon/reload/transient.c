/*
 * A transient node is made by a configuration of one section, checked against the edges of the
 * tree, and then like any other node.  Finished ones are removed as late as possible in the turn,
 * so that requests that wait for them find their result.
 */
#include "daemon/reload/transient.h"

#include "daemon/reload/use.h"
#include "daemon/tree/build.h"
#include "daemon/tree/edges.h"
#include "sys/file/refusal.h"
#include "sys/spawn/ids.h"

static bool transient_exists(const char *path, void *arg)
{
	const struct node *node = *path ? tree_find(arg, path) : NULL;

	return node && node->goal != GOAL_GONE;
}

static int transient_check_place(const struct tree *tree, const char *path, FILE *reason)
{
	char above[CONFIG_NAME_MAX + 1];
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;
	const struct node *parent;

	if (length >= sizeof(above))
		return -ENOENT;
	memcpy(above, path, length);
	above[length] = '\0';
	parent = tree_find(tree, above);
	if (!parent || parent->goal == GOAL_GONE)
		return -ENOENT;
	if (node_is_stopped(parent))
		return -ESHUTDOWN;
	if (parent->service) {
		(void)fputs("the parent is a service: expected a group", reason);
		return -EINVAL;
	}
	if (tree_find(tree, path)) {
		(void)fputs("the node exists already", reason);
		return -EEXIST;
	}
	return 0;
}

static int transient_make_config(struct tree *tree, const struct transient_run *run, FILE *reason,
				 struct config **ret)
{
	const struct transient transient = {
		.path = run->path,
		.properties = run->properties,
		.argv = run->argv,
		.exists = transient_exists,
		.arg = tree,
	};
	const struct config_names names = {
		.user = run->ask ? ids_user : NULL,
		.group = run->ask ? ids_group : NULL,
		.groups = run->ask ? ids_groups_of : NULL,
		.tape = run->tape,
		.open = refusal_open,
	};
	cleanup(config_unrefp) struct config *config = NULL;
	cleanup(diag_freep) struct diag *diag = NULL;
	int r = diag_new(&diag);

	if (r < 0)
		return r;
	r = config_new_transient(&config, tree->config, &transient, &names, diag);
	if (r == 0)
		r = edges_check(tree, tree->config, false, config_find(config, run->path), diag);
	diag_report(diag, NULL, reason);
	if (r == 0 && diag_errors(diag) > 0)
		r = -EINVAL;
	if (r == 0)
		*ret = take(config);
	return r;
}

static int transient_make_node(struct tree *tree, struct config *config, const char *path,
			       struct node **ret)
{
	struct node *node;
	int r = tree_add(tree, config, config_find(config, path), path, &node);

	if (r < 0)
		return r;
	node->transient = true;
	r = edges_prepare(tree, tree->config);
	if (r < 0) {
		tree_remove(tree, node);
		return r;
	}
	edges_commit(tree);
	*ret = node;
	return 0;
}

void transient_ask(struct tree *tree, const struct transient_run *run)
{
	struct config *config;

	/* Mistakes are reported by transient_add(). */
	(void)transient_make_config(tree, run, NULL, &config);
	(void)fcntl(run->tape, F_ADD_SEALS, F_SEAL_WRITE);
}

int transient_add(struct tree *tree, const struct transient_run *run, FILE *reason,
		  struct node **ret)
{
	cleanup(config_unrefp) struct config *config = NULL;
	struct node *node = NULL;
	int r;

	free(take(tree->ctx->refused));
	r = transient_check_place(tree, run->path, reason);
	if (r == 0)
		r = transient_make_config(tree, run, reason, &config);
	if (r == 0)
		r = transient_make_node(tree, config, run->path, &node);
	if (r < 0 && tree->ctx->refused && reason)
		(void)fprintf(reason, "\n%s", tree->ctx->refused);
	if (r < 0)
		return r;
	node->keep = run->keep;
	tree->ctx->configuration++;
	node_changed(node, "none", "");
	/* A requirement may be in a tree that is shutting down, and would never be there. */
	(void)goals_start(node, CAUSE_OPERATOR, false);
	*ret = node;
	return 0;
}

bool transient_has_ended(const struct node *node)
{
	enum service_state state = node->service->state;

	if (node_is_stopped(node))
		return node->complete && node_goal(node) != GOAL_CYCLE && !fsm_has_process(state);
	return state == STATE_DONE || state == STATE_FAILED;
}

/*
 * In the end of all, the exit status needs the node, and the report its edges; the node is freed
 * with the tree.
 */
static bool transient_is_end_of_all(const struct tree *tree, const struct node *node)
{
	return node_is_stopped(tree->root) || (node->service && node->service == tree->ends.cause);
}

void transient_update(struct tree *tree, struct node *node)
{
	if (node->goal == GOAL_GONE) {
		node_update_soon(node);
	} else if (node_is_use(node)) {
		use_end(tree, node);
	} else if (node->transient && transient_has_ended(node) &&
		   (!node->keep || node_is_stopped(node)) && !transient_is_end_of_all(tree, node)) {
		goals_lower_one(tree, node, CAUSE_CONFIGURATION, REQUEST_REMOVE,
				"transient, and has ended");
	}
}
