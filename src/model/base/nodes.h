#pragma once

/* The nodes of a configuration: made, found by path, and counted. */

#include "model/base/settings.h"

/* The root alone, with the defaults of swansong.ini(5).  Return: 0 or -ENOMEM. */
int config_new(struct config **ret);

struct config *config_ref(struct config *config);
struct config *config_unref(struct config *config);
DEFINE_CLEANUP(struct config *, config_unref)

/* A copy of @name that lives as long as @config, for places.  Return: 0 or -ENOMEM. */
int config_add_file(struct config *config, const char *name, const char **ret);

/*
 * The node called @path with the defaults, and its missing parents before it; an existing one as
 * it is.  @path must be a good name (config_check_name()).
 *
 * Return: 0, -ENOMEM, or -E2BIG if there would be more than CONFIG_NODES_MAX.
 */
int config_add_node(struct config *config, const char *path, struct place place,
		    struct node_config **ret);

/* NULL if @path may be the name of a node below the root, else the reason why not. */
const char *config_check_name(const char *path);

/* Is this the name of a template: does it end with '@'? */
bool config_is_template(const char *path);

/* NULL if there is no such node. */
struct node_config *config_find(const struct config *config, const char *path);
