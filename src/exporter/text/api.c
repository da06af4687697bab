/*
 * Objects of the JSON interface, built from the copy at the time of the request: ages and
 * remaining times in it are moved on from the time at which the copy was filled.
 */
#include "exporter/text/api.h"

#include "proto/history/report.h"

/* A new object with the members of a format of json_pack(), behind those that each has. */
#define api_pack(up, format, ...)                                    \
	json_pack("{s:b, s:I, " format "}", "up", (up), "time_usec", \
		  (json_int_t)clock_realtime_usec(), __VA_ARGS__)

json_t *api_node(const struct copy *copy, const struct copy_node *node, uint64_t now_usec)
{
	const struct node_view view = copy_node_at(copy, node, now_usec);

	return node_view_build(&view);
}

json_t *api_tree(const struct copy *copy, bool up, uint64_t now_usec)
{
	json_t *nodes = json_array();

	for (size_t i = 0; i < copy->n; i++)
		(void)json_array_append_new(nodes, api_node(copy, &copy->nodes[i], now_usec));
	return api_pack(up, "s:o, s:O*", "nodes", nodes, "rollout", copy->rollout);
}

static json_t *api_guard_list(const struct copy *copy, const char *top, bool blocking,
			      uint64_t now_usec)
{
	json_t *guards = json_array();

	for (size_t i = 0; i < copy->n_guards; i++) {
		const struct guard_view *guard = &copy->guards[i];
		const struct guard_view view = copy_guard_at(copy, guard, now_usec);

		if (text_is_within(guard->node, top) &&
		    (!blocking || copy_is_blocking(copy, guard)))
			(void)json_array_append_new(guards, guard_view_build(&view));
	}
	return guards;
}

json_t *api_guards(const struct copy *copy, uint64_t now_usec)
{
	return json_pack("{s:o}", "guards", api_guard_list(copy, "", false, now_usec));
}

/* Returns the objects of @array that have @path as one of two members. */
static json_t *api_select_of(const json_t *array, const char *path, const char *one,
			     const char *other)
{
	json_t *selected = json_array(), *object;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)array, i, object) {
		const char *a = json_string_value(json_object_get(object, one));
		const char *b = json_string_value(json_object_get(object, other));

		if ((a && strcmp(a, path) == 0) || (b && strcmp(b, path) == 0))
			(void)json_array_append(selected, object);
	}
	return selected;
}

json_t *api_node_page(const struct copy *copy, const struct copy_node *node, bool up,
		      uint64_t now_usec)
{
	const char *path = node->view.path;

	return api_pack(up, "s:o, s:o, s:o, s:o, s:O*", "node", api_node(copy, node, now_usec),
			"guards", api_guard_list(copy, path, false, now_usec), "events",
			api_select_of(copy->events, path, "node", "node"), "dependencies",
			api_select_of(copy->dependencies, path, "from", "to"), "settings",
			shown_get(&copy->shown, path));
}

/* Returns @array for another object; a missing one is empty. */
static json_t *api_copy(json_t *array)
{
	return array ? json_copy(array) : json_array();
}

json_t *api_dependencies(const struct copy *copy, bool up)
{
	return api_pack(up, "s:o", "dependencies", api_copy(copy->dependencies));
}

json_t *api_shutdown(const struct copy *copy, bool up, bool whole, uint64_t now_usec)
{
	json_int_t left = 0, services = 0;

	for (size_t i = 0; i < copy->n; i++) {
		const struct node_view *view = &copy->nodes[i].view;

		services += view->is_service;
		/* It has a process, or waits for its stop. */
		left += view->is_service && report_part(view->service.state) != REPORT_OVER;
	}
	return api_pack(
		up, "s:b, s:o*, s:I, s:I, s:o, s:O*, s:o*", "stopping", copy_is_stopping(copy),
		"node", copy->n > 0 ? api_node(copy, &copy->nodes[0], now_usec) : NULL, "left",
		left, "services", services, "guards", api_guard_list(copy, "", true, now_usec),
		"plan", whole ? copy->plan : NULL, "events", whole ? api_copy(copy->events) : NULL);
}
