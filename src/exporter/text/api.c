/*
 * Objects of the JSON interface, built from the copy at the time of the request: ages and
 * remaining times in it are moved on from the time at which the copy was filled.
 */
#include "exporter/text/api.h"

#include "proto/history/report.h"

static json_t *api_begin(bool up)
{
	return json_pack("{s:b, s:I}", "up", up, "time_usec", (json_int_t)clock_realtime_usec());
}

json_t *api_node(const struct copy *copy, const struct copy_node *node, uint64_t now_usec)
{
	const struct node_view view = copy_node_at(copy, node, now_usec);

	return node_view_build(&view);
}

json_t *api_tree(const struct copy *copy, bool up, uint64_t now_usec)
{
	json_t *tree = api_begin(up), *nodes = json_array();

	for (size_t i = 0; i < copy->n; i++)
		(void)json_array_append_new(nodes, api_node(copy, &copy->nodes[i], now_usec));
	(void)json_object_set_new(tree, "nodes", nodes);
	(void)json_object_set(tree, "rollout", copy->rollout);
	return tree;
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

json_t *api_guards(const struct copy *copy, const char *top, bool blocking, uint64_t now_usec)
{
	return json_pack("{s:o}", "guards", api_guard_list(copy, top, blocking, now_usec));
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
	json_t *page = api_begin(up);

	(void)json_object_set_new(page, "node", api_node(copy, node, now_usec));
	(void)json_object_set_new(page, "guards", api_guard_list(copy, path, false, now_usec));
	(void)json_object_set_new(page, "events",
				  api_select_of(copy->events, path, "node", "node"));
	(void)json_object_set_new(page, "dependencies",
				  api_select_of(copy->dependencies, path, "from", "to"));
	if (shown_get(&copy->shown, path))
		(void)json_object_set(page, "settings", shown_get(&copy->shown, path));
	return page;
}

json_t *api_dependencies(const struct copy *copy, bool up)
{
	json_t *object = api_begin(up);

	(void)json_object_set_new(object, "dependencies",
				  copy->dependencies ? json_copy(copy->dependencies)
						     : json_array());
	return object;
}

json_t *api_shutdown(const struct copy *copy, bool up, bool whole, uint64_t now_usec)
{
	json_int_t left = 0, services = 0;
	json_t *object = api_begin(up);

	for (size_t i = 0; i < copy->n; i++) {
		const struct node_view *view = &copy->nodes[i].view;

		services += view->is_service;
		/* It has a process, or waits for its stop. */
		left += view->is_service && report_part(view->service.state) != REPORT_OVER;
	}
	(void)json_object_set_new(object, "stopping", json_boolean(copy_is_stopping(copy)));
	if (copy->n > 0)
		(void)json_object_set_new(object, "node",
					  api_node(copy, &copy->nodes[0], now_usec));
	(void)json_object_set_new(object, "left", json_integer(left));
	(void)json_object_set_new(object, "services", json_integer(services));
	(void)json_object_set_new(object, "guards", api_guard_list(copy, "", true, now_usec));
	if (whole && copy->plan)
		(void)json_object_set(object, "plan", copy->plan);
	if (whole)
		(void)json_object_set_new(object, "events",
					  copy->events ? json_copy(copy->events) : json_array());
	return object;
}
