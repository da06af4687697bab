/*
 * Two objects of a node or a guard are the same if they differ in times alone, the members
 * "…_usec", or in the number of lines of output: these differ in every reply.
 */
#include "exporter/mirror/copy.h"

DEFINE_DICT_NAME(copy_node_path, struct copy_node, view.path)

static void copy_free_nodes(struct copy *copy)
{
	for (size_t i = 0; i < copy->n; i++)
		json_decref(copy->nodes[i].object);
	free(copy->nodes);
	dict_done(&copy->by_path);
}

void copy_init(struct copy *copy)
{
	*copy = (struct copy){ 0 };
	dict_init(&copy->by_path, copy_node_path);
}

void copy_done(struct copy *copy)
{
	copy_free_nodes(copy);
	free(copy->guards);
	json_decref(copy->guards_reply);
	json_decref(copy->events);
	json_decref(copy->rollout);
	json_decref(copy->plan);
	json_decref(copy->dependencies);
	json_decref(copy->settings);
	shown_forget(&copy->shown);
	copy_init(copy);
}

static bool copy_is_distance(const char *name)
{
	size_t n = strlen(name);

	if (strcmp(name, "log_lines") == 0)
		return true;
	return n > 5 && strcmp(name + n - 5, "_usec") == 0;
}

static bool copy_has_same_members(const json_t *a, const json_t *b)
{
	const char *name;
	json_t *value;

	if (json_object_size(a) != json_object_size(b))
		return false;
	json_object_foreach ((json_t *)(uintptr_t)a, name, value) {
		const json_t *other = json_object_get(b, name);

		if (!other || (!copy_is_distance(name) && strcmp(name, "service") != 0 &&
			       !json_equal(value, other)))
			return false;
	}
	return true;
}

/* Return: 0, -EBADMSG or -ENOMEM; a part of @copy may be filled in. */
static int copy_read_nodes(struct copy *copy, const json_t *nodes)
{
	copy->nodes = calloc(json_array_size(nodes) + 1, sizeof(*copy->nodes));
	if (!copy->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(nodes); i++) {
		struct copy_node *node = &copy->nodes[i];
		int r = node_view_parse(json_array_get(nodes, i), &node->view);

		if (r < 0)
			return r;
		if (copy_find(copy, node->view.path))
			return -EBADMSG;
		r = dict_add(&copy->by_path, node);
		if (r < 0)
			return r;
		node->object = json_incref(json_array_get(nodes, i));
		copy->n++;
	}
	return 0;
}

static void copy_take_event(struct copy *copy, const json_t *event)
{
	const char *path = message_get_text(event, "node"), *state;
	const char *to = message_get_text(event, "to");
	struct copy_node *node = dict_find(&copy->by_path, path);

	if (!node)
		return;
	state = service_view_states[text_index_of(to, service_view_states)];
	if (strcmp(message_get_text(event, "kind"), "node") == 0) {
		if (node_view_state_find(to, &node->view.state) == 0)
			node->view.since_usec = 0;
	} else if (node->view.is_service && state) {
		node->view.service.state = state;
		node->view.service.since_usec = 0;
	}
}

int copy_take_nodes(struct copy *copy, const json_t *nodes, uint64_t now_usec)
{
	const json_t *event;
	struct copy fresh;
	bool other;
	size_t k;
	int r;

	copy_init(&fresh);
	r = copy_read_nodes(&fresh, nodes);
	if (r < 0) {
		copy_free_nodes(&fresh);
		return r;
	}
	other = fresh.n != copy->n;
	for (size_t i = 0; i < fresh.n; i++) {
		const struct copy_node *before = copy_find(copy, fresh.nodes[i].view.path);
		const json_t *object = fresh.nodes[i].object;

		fresh.nodes[i].changed =
			!before || !copy_has_same_members(before->object, object) ||
			!copy_has_same_members(json_object_get(before->object, "service"),
					       json_object_get(object, "service"));
		other = other || before != &copy->nodes[i];
	}
	copy_free_nodes(copy);
	copy->nodes = fresh.nodes;
	copy->n = fresh.n;
	copy->by_path = fresh.by_path;
	copy->at_usec = now_usec;
	json_array_foreach (copy->events, k, event)
		if (message_get_number(event, "time_usec", 0) >= copy->asked_usec)
			copy_take_event(copy, event);
	return other;
}

static bool copy_has_same_guards(const json_t *a, const json_t *b)
{
	size_t n = json_array_size(a), i = 0;

	if (n != json_array_size(b))
		return false;
	while (i < n && copy_has_same_members(json_array_get(a, i), json_array_get(b, i)))
		i++;
	return i == n;
}

int copy_take_guards(struct copy *copy, json_t *reply, uint64_t now_usec)
{
	struct guard_view *guards;
	size_t n;
	int r = guard_view_parse_array(reply, "guards", &guards, &n);
	bool same;

	if (r < 0)
		return r;
	same = copy->guards_reply &&
	       copy_has_same_guards(json_object_get(copy->guards_reply, "guards"),
				    json_object_get(reply, "guards"));
	free(copy->guards);
	json_decref(copy->guards_reply);
	copy->guards = guards;
	copy->n_guards = n;
	copy->guards_reply = json_incref(reply);
	copy->guards_at_usec = now_usec;
	return !same;
}

/* The numbers of another daemon begin again, and its times may be earlier if the clock was set. */
static bool copy_knows_event(const struct copy *copy, const json_t *event)
{
	const json_t *number = json_object_get(event, "number"),
		     *time = json_object_get(event, "time_usec"), *known;
	size_t i;

	if (message_get_number(event, "number", 0) >= copy->next_event)
		return false;
	json_array_foreach (copy->events, i, known) {
		if (json_equal(json_object_get(known, "number"), number) &&
		    json_equal(json_object_get(known, "time_usec"), time))
			return true;
	}
	return false;
}

json_t *copy_take_events(struct copy *copy, const json_t *events)
{
	json_t *fresh = json_array(), *event;
	size_t i;

	if (!copy->events)
		copy->events = json_array();
	json_array_foreach ((json_t *)(uintptr_t)events, i, event) {
		if (copy_knows_event(copy, event))
			continue;
		/* Events of another daemon do not belong to the shutdown that is shown. */
		if (message_get_number(event, "number", 0) < copy->next_event)
			json_array_clear(copy->events);
		copy->next_event = message_get_number(event, "number", 0) + 1;
		copy_take_event(copy, event);
		(void)json_array_append(fresh, event);
		(void)json_array_append(copy->events, event);
	}
	while (json_array_size(copy->events) > COPY_EVENTS)
		(void)json_array_remove(copy->events, 0);
	return fresh;
}

const struct copy_node *copy_find(const struct copy *copy, const char *path)
{
	return dict_find(&copy->by_path, path);
}

/* Moves ages and remaining times on; each list ends with NULL. */
static void copy_add_elapsed(uint64_t elapsed, uint64_t *const *ages, uint64_t *const *left)
{
	for (; *ages; ages++)
		**ages += **ages == FIELD_NONE ? 0 : elapsed;
	for (; *left; left++)
		**left -= **left == FIELD_NONE ? 0 : MIN(**left, elapsed);
}

struct node_view copy_node_at(const struct copy *copy, const struct copy_node *node,
			      uint64_t now_usec)
{
	uint64_t elapsed = now_usec - MIN(now_usec, copy->at_usec);
	struct node_view view = node->view;
	struct service_view *s = &view.service;
	uint64_t *const ages[] = { &view.since_usec, &s->since_usec,	    &s->reloading_usec,
				   &s->ran_usec,     &s->health_since_usec, NULL };
	uint64_t *const left[] = { &view.deadline_usec, &s->next_usec, &s->watchdog_usec,
				   &s->scheduled_usec, NULL };

	copy_add_elapsed(elapsed, ages, left);
	return view;
}

struct guard_view copy_guard_at(const struct copy *copy, const struct guard_view *guard,
				uint64_t now_usec)
{
	uint64_t elapsed = now_usec - MIN(now_usec, copy->guards_at_usec);
	struct guard_view view = *guard;

	copy_add_elapsed(elapsed, (uint64_t *const[]){ &view.age_usec, NULL },
			 (uint64_t *const[]){ &view.kill_usec, &view.ttl_usec, NULL });
	return view;
}

bool copy_is_blocking(const struct copy *copy, const struct guard_view *guard)
{
	const struct copy_node *node = copy_find(copy, guard->node);

	if (!node || node->view.state == NODE_COMPLETE)
		return !node;
	return node->view.state == NODE_SHUTTING_DOWN || node->view.generation != guard->generation;
}

bool copy_is_stopping(const struct copy *copy)
{
	for (size_t i = 0; i < copy->n; i++)
		if (copy->nodes[i].view.state == NODE_SHUTTING_DOWN)
			return true;
	return false;
}
