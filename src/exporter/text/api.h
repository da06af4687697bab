#pragma once

/*
 * The replies of /api and the data of /events: objects of the control protocol, with their times as
 * of now.  A function returns a new object, or NULL if out of memory.
 */

#include "exporter/mirror/copy.h"

json_t *api_node(const struct copy *copy, const struct copy_node *node, uint64_t now_usec);

/* {"up", "time_usec", "nodes": [Node]} */
json_t *api_tree(const struct copy *copy, bool up, uint64_t now_usec);

/* {"guards": [Guard]}: those of all nodes. */
json_t *api_guards(const struct copy *copy, uint64_t now_usec);

/*
 * {"up", "time_usec", "node": Node, "guards": [Guard], "events": [Event], "dependencies":
 * [Dependency], "settings": those of shown_get(), if they are known}
 */
json_t *api_node_page(const struct copy *copy, const struct copy_node *node, bool up,
		      uint64_t now_usec);

/* {"up", "time_usec", "dependencies": [Dependency]}: those of all nodes. */
json_t *api_dependencies(const struct copy *copy, bool up);

/*
 * {"up", "time_usec", "stopping": a node is being shut down, "node": the root, "left": the number of
 * services that have not ended, "services": that of all, "guards": [Guard] that hold up a stop,
 * and if @whole "plan": the reply to Plan, "events": [Event], the last ones}
 */
json_t *api_shutdown(const struct copy *copy, bool up, bool whole, uint64_t now_usec);
