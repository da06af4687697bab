#pragma once

/*
 * A service without a file: its section consists of properties.  It is read and checked as a
 * section of a file, and inherits from the groups of a configuration.
 */

#include "model/config/config.h"

struct transient {
	const char *path;	 /* of the node, whose parent is in the configuration */
	char *const *properties; /* "KEY=VALUE", NULL-terminated; or NULL */
	char *const *argv;	 /* without substitution; at least one word */
	/* Returns true if the node exists, for edges. */
	bool (*exists)(const char *path, void *arg);
	void *arg;
};

/*
 * Makes a configuration of the node, of the nodes above it, without their keys, and of the targets
 * of its edges.  Without the key restart the node is not restarted.  Errors go to @diag, with
 * "client" as the file and the number of the property as the line.
 *
 * Return: 0; -EINVAL with at least one error in @diag; -ENOMEM; -ENOSYS: see struct config_names.
 */
int config_new_transient(struct config **ret, const struct config *base,
			 const struct transient *transient, const struct config_names *names,
			 struct diag *diag);

/*
 * Makes a configuration of a group at @path that requires @target and has its budget.  @path may
 * have a name that no section can have.  Return: 0; -E2BIG; -ENOMEM.
 */
int config_new_requirer(struct config **ret, const char *path, const struct node_config *target);

/*
 * Checks the edges of @config together with those of @n nodes of other configurations, as
 * graph_check() (model/config/graph.h).  Return: 0; -E2BIG beyond CONFIG_NODES_MAX; -ENOMEM.
 */
int transient_check_edges(const struct config *config, const struct node_config *const *nodes,
			  size_t n, struct diag *diag);
