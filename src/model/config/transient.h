#pragma once

/*
 * A service that stands in no file: a section made of properties, read and checked as one of a
 * file, that inherits from the groups of a configuration.
 */

#include "model/config/config.h"

struct transient {
	const char *path;	 /* of the node, whose parent is in the configuration */
	char *const *properties; /* "KEY=VALUE", NULL-terminated; or NULL */
	char *const *argv;	 /* as it is, without substitution; one word at least */
	/* Is there such a node, for its edges? */
	bool (*exists)(const char *path, void *arg);
	void *arg;
};

/*
 * The configuration of the node, of those above it, which are otherwise empty, and of those that
 * its edges name.  Without the key restart it is not started again.  Mistakes go to @diag, with
 * "client" as the file and the number of the property as the line.
 *
 * Return: 0; -EINVAL with at least one error in @diag; -ENOMEM.
 */
int config_new_transient(struct config **ret, const struct config *base,
			 const struct transient *transient, const struct config_names *names,
			 struct diag *diag);

/*
 * As graph_check() (model/graph.h), of the edges of @config and of @n nodes that are beside it,
 * each of a configuration of its own.  Return: 0, -ENOMEM, or -E2BIG beyond CONFIG_NODES_MAX.
 */
int transient_check_edges(const struct config *config, const struct node_config *const *nodes,
			  size_t n, struct diag *diag);
