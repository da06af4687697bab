#include "daemon/reload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memstream.h"
#include "daemon/order.h"
#include "daemon/shutdown.h"
#include "sys/ids.h"

struct listeners {
	struct log *log;
	FILE *mistakes;
};

static void tell(enum diag_level level, const char *text, void *arg)
{
	const struct listeners *l = arg;

	log_line(l->log, level == DIAG_ERROR ? LOG_ERR : LOG_WARNING, "%s", text);
	if (l->mistakes && level == DIAG_ERROR)
		(void)fprintf(l->mistakes, "\n%s", text);
}

int reload_config(struct config **ret, const char *const *paths, size_t n_paths, struct log *log,
		  FILE *mistakes)
{
	struct listeners listeners = { .log = log, .mistakes = mistakes };
	static const struct config_names names = { .user = ids_user, .group = ids_group };
	cleanup(diag_freep) struct diag *diag = NULL;
	int r;

	r = diag_new(&diag);
	if (r < 0)
		return r;
	r = config_load(ret, paths, n_paths, &names, diag);
	diag_each(diag, tell, &listeners);
	return r;
}

static void on_added(struct node *node, void *arg)
{
	struct tree *tree = arg;

	log_line(tree->ctx->log, LOG_NOTICE, "%s: added", node_name(node));
	if (shutdown_watch(node) < 0)
		log_line(tree->ctx->log, LOG_ERR, "%s: no memory for its shutdown-timeout",
			 node_name(node));
	if (node->service && node->config->autostart && !node_is_stopped(node))
		order_want(node->service);
}

static void on_removed(struct node *node, void *arg)
{
	shutdown_stop(arg, node, "its section is gone");
	if (node->complete)
		node_follow_up(node);
}

int reload_apply(struct tree *tree, struct config *config)
{
	struct tree_difference difference;
	int r;

	r = tree_reload(tree, config, &difference, on_added, on_removed, tree);
	if (r < 0)
		return r;
	log_line(tree->ctx->log, LOG_NOTICE, "reloaded: %u added, %u removed, %u changed%s",
		 difference.added, difference.removed, difference.changed,
		 difference.changed ? " (as they were until the daemon is started anew)" : "");
	return 0;
}

static int load_and_apply(const struct reload *reload, FILE *reason)
{
	cleanup(config_unrefp) struct config *config = NULL;
	struct tree *tree = reload->tree;
	int r;

	if (reload->n_paths == 0) {
		(void)fputs("there is no configuration in front of a command", reason);
		return -EOPNOTSUPP;
	}
	if (node_is_stopped(tree->root)) {
		(void)fputs("the tree is shutting down", reason);
		return -ESHUTDOWN;
	}
	r = reload_config(&config, reload->paths, reload->n_paths, tree->ctx->log, reason);
	if (r == 0)
		r = reload_apply(tree, config);
	if (r == -EBUSY)
		(void)fputs("a section has the name of one that is still being stopped", reason);
	else if (r < 0 && r != -EINVAL)
		(void)fputs(strerror(-r), reason);
	return r;
}

int reload_run(const struct reload *reload, FILE *reason)
{
	struct context *ctx = reload->tree->ctx;
	int r;

	parent_reloading(reload->parent);
	r = load_and_apply(reload, reason);
	if (r < 0)
		log_line(ctx->log, LOG_ERR, "the reload is refused: nothing has changed");
	parent_reloaded(reload->parent, r < 0 ? "Reload refused: nothing has changed" : "Reloaded");
	context_settle_soon(ctx);
	return r;
}

void reload_by_signal(const struct reload *reload)
{
	struct log *log = reload->tree->ctx->log;
	cleanup(freep) char *reason = NULL;
	struct memstream m;
	int r = memstream_open(&m);

	if (r < 0) {
		log_line(log, LOG_ERR, "the reload is refused: %s", strerror(-r));
		return;
	}
	r = reload_run(reload, m.file);
	(void)memstream_close(&m, &reason); /* without it, the number says what it was */
	/* Mistakes in the files are in the log already. */
	if (r < 0 && r != -EINVAL)
		log_line(log, LOG_ERR, "%s", reason ? reason : strerror(-r));
}
