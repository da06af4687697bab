#pragma once

/* The nodes of a configuration: creation, look-up by path, reference counts. */

#include "model/base/settings.h"

/*
 * Creates a configuration of the root, with the defaults of swansong.ini(5).  Return: 0 or -ENOMEM.
 */
int config_new(struct config **ret);

struct config *config_ref(struct config *config);
struct config *config_unref(struct config *config);
DEFINE_CLEANUP(struct config *, config_unref)

/* Copies @name for struct place; the copy lives as long as @config.  Return: 0 or -ENOMEM. */
int config_add_file(struct config *config, const char *name, const char **ret);

/*
 * Finds the node @path, or creates it with the defaults, after its missing parents.  @path must
 * have passed config_check_name().
 *
 * Return: 0; -E2BIG: there are CONFIG_NODES_MAX nodes already; -ENOMEM.
 */
int config_add_node(struct config *config, const char *path, struct place place,
		    struct node_config **ret);

/* Returns NULL if @path is a valid name of a node below the root, else the reason for a message. */
const char *config_check_name(const char *path);

/* Returns true for the name of a template, which ends with '@'. */
bool config_is_template(const char *path);

/* Returns true if the node @path is an instance of @template. */
bool config_is_instance(const char *path, const char *template);

/* Returns the template by which @node requires its instance @path, or NULL. */
const char *config_required_template(const struct node_config *node, const char *path);

/* Returns NULL if there is no such node. */
struct node_config *config_find(const struct config *config, const char *path);
